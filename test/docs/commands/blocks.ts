// The commands of the documents: every fenced block of shell, taken apart as bash takes it apart.
import { execFileSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { SETTINGS } from '../../../src/shared/config/index.js';
import { root, textOf } from '../support.js';

export type Block = {
  readonly page: string;
  /** Of its first line, as an editor counts. */
  readonly line: number;
  readonly text: string;
  /** Each a whole command, over several lines where it goes on there. Empty for a block of settings. */
  readonly commands: readonly string[];
  /** Lines of an .env file, no commands. */
  readonly settings: boolean;
  /** The page's expected output: the block without a language right after it. */
  readonly output: string | null;
};

const SETTING_NAMES = new Set<string>(Object.values(SETTINGS).map(({ name }) => name));

/** The pages with tested commands. */
export function pagesWithCommands(): readonly string[] {
  const below = (folder: string): string[] =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.md') && !path.includes('node_modules'))
      .map((path) => join(folder, path))
      .sort();
  return ['README.md', 'CONTRIBUTING.md', 'SECURITY.md', ...below('docs'), ...below('examples'), ...below('packages')];
}

/** The shell blocks of a page, in order. Throws where bash finds a mistake. */
export function blocksOf(page: string): readonly Block[] {
  const text = textOf(page);
  const fences = [...text.matchAll(/^( *)```(\w*)\n([\s\S]*?)^ *```$/gm)].map((m) => ({
    language: m[2] ?? '',
    line: text.slice(0, m.index).split('\n').length + 1,
    body: (m[3] ?? '').replaceAll(new RegExp(`^${m[1] ?? ''}`, 'gm'), ''),
    from: m.index,
    to: m.index + m[0].length,
  }));
  return fences.flatMap((fence, i) => {
    if (!['sh', 'bash', 'shell', 'console'].includes(fence.language)) return [];
    const next = fences[i + 1];
    const follows = next?.language === 'text' && text.slice(fence.to, next.from).trim() === '';
    const settings = isSettings(fence.body);
    const block = { page, line: fence.line, text: fence.body, settings, output: follows ? next.body : null };
    return [{ ...block, commands: settings ? [] : commandsOf(block) }];
  });
}

function isSettings(body: string): boolean {
  const lines = body.split('\n').filter((line) => line.trim() !== '');
  return lines.every((line) => SETTING_NAMES.has(/^([A-Z_]+)=/.exec(line)?.[1] ?? ''));
}

/** Reads lines until bash takes them for a whole: as the body of a function, never called. */
const SPLIT = `
whole=
while IFS= read -r line || [ -n "$line" ]; do
  [ -z "$whole" ] && [[ $line =~ ^[[:space:]]*(#.*)?$ ]] && continue
  whole+=\${whole:+$'\\n'}$line
  [[ $line == *\\\\ ]] && continue
  eval "__() { :
$whole
}" 2>/dev/null && { printf '%s\\0' "$whole"; whole=; }
done
[ -z "$whole" ] || { printf '%s' "$whole" >&2; exit 1; }
`;

function commandsOf({ page, line, text }: Pick<Block, 'page' | 'line' | 'text'>): readonly string[] {
  try {
    return execFileSync('bash', ['-c', SPLIT], { input: text, encoding: 'utf8', stdio: 'pipe' })
      .split('\0')
      .slice(0, -1);
  } catch (error) {
    throw new Error(`${page}:${line}: bash cannot read this: ${(error as { stderr: string }).stderr}`);
  }
}

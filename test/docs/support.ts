// The project's documents, as the tests of this folder read them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');

export function textOf(path: string): string {
  return readFileSync(join(root, path), 'utf8');
}

export function isThere(path: string): boolean {
  return existsSync(join(root, path));
}

/** Every document for people: the pages of docs/, and those at the root. */
export function documents(): readonly string[] {
  const pages = readdirSync(join(root, 'docs'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.md'))
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1));
  return ['README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md', ...pages.sort()];
}

/** The handwritten documents. */
export function handwritten(): readonly string[] {
  return documents().filter((path) => !path.startsWith('docs/reference/'));
}

/** Everything in backquotes or in a code block. */
export function codeIn(text: string): readonly string[] {
  const blocks = [...text.matchAll(/^ *```\w*\n([\s\S]*?)^ *```/gm)].map(([, block = '']) => block);
  const spans = [...text.replace(/^ *```[\s\S]*?^ *```/gm, '').matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  return [...blocks.flatMap((block) => block.split('\n')), ...spans];
}

/** A heading's anchor on a page. */
export function anchorsOf(text: string): ReadonlySet<string> {
  const headings = [...text.matchAll(/^#{1,6} (.+)$/gm)].map(([, heading = '']) => heading);
  return new Set(
    headings.map((heading) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}_ -]/gu, '')
        .trim()
        .replaceAll(' ', '-'),
    ),
  );
}

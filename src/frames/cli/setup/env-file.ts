// Reads a settings file as text, and changes single lines of it.
import { chmodSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { CliError, EXIT } from '../exit-codes.js';

/** Reads the settings in a text. Leaves out empty values and <angle brackets>. */
export function valuesOf(text: string): Readonly<Record<string, string>> {
  const set = Object.entries(parseEnv(text)).filter(([, value = '']) => value !== '' && !/<[^<>]*>/.test(value));
  return Object.fromEntries(set.map(([name, value = '']) => [name, value]));
}

/** Sets `name` on its old line, even a commented one, or on a new last line. Every other line stays unchanged. */
export function withSetting(text: string, name: string, value: string): string {
  const line = `${name}=${quoted(value)}`;
  const standing = new RegExp(`^(export +)?${name}=.*$`, 'gm');
  const commented = new RegExp(`^# ?${name}=.*$`, 'm');
  // If a name occurs twice, its last line counts.
  const last = [...text.matchAll(standing)].at(-1);
  if (last !== undefined) return text.slice(0, last.index) + line + text.slice(last.index + last[0].length);
  if (commented.test(text)) return text.replace(commented, () => line);
  return `${text}${text === '' || text.endsWith('\n') ? '' : '\n'}${line}\n`;
}

/** Quotes a value if necessary: without quotes the parser would cut or change a value with a `#`, quote or space. */
function quoted(value: string): string {
  if (/^[^\s#'"`\\]*$/.test(value)) return value;
  const mark = ["'", '"', '`'].find((m) => !value.includes(m));
  if (mark === undefined || value.includes('\n')) {
    throw new CliError(EXIT.usage, 'env_file', 'A settings file cannot hold this value: it has every kind of quote.');
  }
  return mark + value + mark;
}

/** Returns the file's text. Null if there is no file. */
export function readEnvFile(file: string): string | null {
  try {
    return readFileSync(file, 'utf8');
  } catch (e) {
    if (typeof e === 'object' && e !== null && 'code' in e && e.code === 'ENOENT') return null;
    throw new CliError(
      EXIT.failed,
      'env_file',
      `Crossbill cannot read ${file}. Make it readable, or name another with --env-file.`,
    );
  }
}

/** Replaces the file in one step. Only the file's owner may read it. */
export function writeEnvFile(file: string, text: string): void {
  const beside = `${file}.new`;
  try {
    writeFileSync(beside, text, { mode: 0o600 });
    chmodSync(beside, 0o600);
    renameSync(beside, file);
  } catch {
    throw new CliError(EXIT.failed, 'not_written', `Crossbill cannot write ${file}. Name another with --env-file.`);
  }
}

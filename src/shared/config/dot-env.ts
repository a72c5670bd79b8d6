// Reads the `.env` file in the working folder, as `crossbill init` writes it. Production ignores the file. A variable
// of the environment takes precedence over the file.
import { isUtf8 } from 'node:buffer';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseEnv } from 'node:util';
import { ConfigError } from './config-error.js';
import { SETTINGS } from './settings.js';

type Environment = Readonly<Record<string, string | undefined>>;

const FILE = '.env';
const NAMES: ReadonlySet<string> = new Set(Object.values(SETTINGS).map((setting) => setting.name));

export type WithDotEnv = {
  readonly env: Environment;
  /** A message for the operator with the number of settings from the file. Null: there is no file. */
  readonly said: string | null;
};

/**
 * Adds the file's settings to the environment. A variable of the environment takes precedence. Only the environment can
 * set NODE_ENV, so production never opens the file.
 * @param folder the working folder
 * @throws ConfigError for an unreadable file: a start without it would use other settings
 */
export function withDotEnv(env: Environment, folder: string): WithDotEnv {
  const text = env['NODE_ENV'] === 'production' ? null : envText(join(folder, FILE));
  if (text === null) return { env, said: null };
  const file = parseEnv(text);
  const used = Object.keys(file).filter((name) => NAMES.has(name) && env[name] === undefined);
  return {
    env: { ...file, ...env },
    said: used.length === 0 ? null : `Settings read from ${FILE}: ${used.length}`,
  };
}

/**
 * The text of a settings file. Null: there is no such file.
 * @throws ConfigError for an unreadable file
 */
export function envText(path: string): string | null {
  try {
    const bytes = readFileSync(path);
    // Windows PowerShell's `>` and Notepad's "Unicode" write UTF-16: the parser would find no setting in it.
    // An older editor's umlaut would become another character in a password.
    if (bytes.includes(0) || !isUtf8(bytes)) throw refusal(path, 'is not UTF-8 (perhaps UTF-16): save it as UTF-8');
    return bytes.toString('utf8').replace(/^\uFEFF/, '');
  } catch (e) {
    if (e instanceof ConfigError) throw e;
    const code = typeof e === 'object' && e !== null && 'code' in e ? String(e.code) : 'unknown';
    // A folder with this name may be a Python environment, so it counts as no file.
    if (code === 'ENOENT' || code === 'EISDIR') return null;
    throw refusal(path, `cannot be read (${code}): repair or remove this file`);
  }
}

const refusal = (path: string, why: string): ConfigError =>
  new ConfigError([{ name: FILE, problem: `${path} ${why}` }]);

// Inputs that people reported, with times and ids filled in for a test.
import { readFileSync } from 'node:fs';

/** The text of `test/wire/reported/<name>.json`. `run` makes its ids unique. `at` is in Unix seconds. */
export function reported(name: string, run = '1', at = Math.floor(Date.now() / 1000), account = ''): string {
  const text = readFileSync(new URL(`../../wire/reported/${name}.json`, import.meta.url), 'utf8');
  return text.replaceAll('"@now"', String(at)).replaceAll('@run', run).replaceAll('@account', account);
}

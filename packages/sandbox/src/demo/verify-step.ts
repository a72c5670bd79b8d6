// The last step of the demo: `crossbill verify`, run as an operator runs it.
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { builtFile } from './programs.js';

export type VerifyResult = { readonly verdict: 'clean' | 'differences' | 'could not compare'; readonly said: string };

const WITHIN_MS = 120_000;
const MOST_SAID = 16 * 1024 * 1024; // bytes

/**
 * Runs `crossbill verify` in `folder` with the daemon's settings over the last `days` days. Returns null if this build
 * has no command line. `more`: further options of the command.
 */
export function runVerify(
  env: Readonly<Record<string, string>>,
  folder: string,
  days: number,
  more: readonly string[] = [],
  withinMs = WITHIN_MS,
): Promise<VerifyResult | null> {
  if (!existsSync(builtFile('cli.js'))) return Promise.resolve(null);
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      [builtFile('cli.js'), 'verify', '--since', `${days}d`, ...more],
      { env, cwd: folder, timeout: withinMs, maxBuffer: MOST_SAID },
      (error, stdout, stderr) => {
        // Exit codes: 0 clean, 3 differences, 4 could not compare (docs/reference/cli.md).
        const verdict = error === null ? 'clean' : error.code === 3 ? 'differences' : 'could not compare';
        resolve({ verdict, said: `${stdout}${error === null ? '' : stderr}`.trim() });
      },
    );
  });
}

// Finds the daemon for the demo: the build of this repository, or the installed package `crossbill`.
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const REPOSITORY = new URL('../../../../dist/', import.meta.url);

/** The path of a built file of the daemon. Throws if Crossbill is not installed next to the sandbox. */
export function builtFile(name: 'main.js' | 'cli.js'): string {
  const dist = existsSync(new URL('main.js', REPOSITORY))
    ? REPOSITORY
    : new URL('./', import.meta.resolve('crossbill'));
  return fileURLToPath(new URL(name, dist));
}

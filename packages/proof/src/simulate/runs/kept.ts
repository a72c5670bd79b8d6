// Failed runs, shrunk and kept as tests in kept.json.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Recipe } from './shrink.js';

export type Kept = {
  readonly seed: number;
  /** The error, in words. */
  readonly why: string;
  /** The faults of the run. Null: the seed draws them. */
  readonly faults: Recipe['faults'] | null;
  readonly without: Recipe['without'];
};

/** The path of kept.json, relative to this source file or to the built program. */
const FILE = ['../../../../packages/proof/test/kept.json', '../../../../../packages/proof/test/kept.json']
  .map((path) => fileURLToPath(new URL(path, import.meta.url)))
  .find(existsSync);

/** Returns the kept runs, oldest first. */
export function keptCases(): readonly Kept[] {
  return JSON.parse(readFileSync(fileOrThrow(), 'utf8')) as Kept[];
}

/** Adds a run to kept.json. Returns the path of the file. */
export function keepCase(kept: Kept): string {
  const file = fileOrThrow();
  const lines = [...keptCases(), kept].map((one) => `  ${JSON.stringify(one)}`);
  writeFileSync(file, `[\n${lines.join(',\n')}\n]\n`);
  return file;
}

function fileOrThrow(): string {
  if (FILE === undefined) throw new Error('packages/proof/test/kept.json is not there: keep cases from the sources');
  return FILE;
}

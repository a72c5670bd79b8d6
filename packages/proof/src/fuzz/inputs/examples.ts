// Valid inputs: the wire examples of the tests. The fuzzing makes invalid inputs from them.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** `npm run fuzz` and the tests both run in the project's folder. */
const WIRE = join(process.cwd(), 'test/wire');

export type Example = { readonly name: string; readonly value: unknown };

/** The files of one folder of test/wire, parsed. */
export function wire(folder: 'stripe' | 'mor' | 'mor-events'): readonly Example[] {
  return readdirSync(join(WIRE, folder))
    .sort()
    .map((file) => ({
      name: file.replace(/\.json$/, ''),
      value: JSON.parse(readFileSync(join(WIRE, folder, file), 'utf8')) as unknown,
    }));
}

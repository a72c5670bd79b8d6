// The planted bugs of test/mutation follow the code: each still matches one place, and names existing tests.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

const ROOT = join(import.meta.dirname, '../..');

type Mutant = { readonly [K in 'name' | 'file' | 'find' | 'replace']: string } & { readonly tests: readonly string[] };

it('each planted bug of the mutation tests matches one place of the code and names existing tests', async () => {
  const list = '../mutation/mutants.mjs';
  const { mutants } = (await import(list)) as { readonly mutants: readonly Mutant[] };
  const lost = mutants.filter(({ file, find }) => readFileSync(join(ROOT, file), 'utf8').split(find).length !== 2);
  expect(lost.map((m) => m.name)).toEqual([]);
  expect(mutants.filter((m) => m.find === m.replace || m.tests.length === 0).map((m) => m.name)).toEqual([]);
  expect(mutants.flatMap((m) => m.tests).filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  expect(new Set(mutants.map((m) => m.name)).size).toBe(mutants.length);
  expect(mutants.length).toBeGreaterThanOrEqual(50);
});

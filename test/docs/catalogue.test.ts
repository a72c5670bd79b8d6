// The catalogue of faults (test/catalogue.yml): every fault is there once, and its cover exists.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import { parse } from 'yaml';

/** The rows of the catalogue, part by part. */
const ROWS: Readonly<Record<string, string>> = {
  I: '1 2 3 4 7 8 10 11 12 13 14 15 16 18 19 20 21 23 24 25 26 28 29 30',
  D: '1 2 5 7 9 10 11 12',
  L: '1 3 4 5 6 7 8 10 12 13 14 15 17 18 19 20 21 22 23 24 26 28 29 30',
  A: '1 2 4 6 7',
  K: '1 2 3 4 5 8 9 10 11',
  B: '1 3 4 5 6 7 8 9 10 11 12',
  M: '1 2 3 4 5 6 7 8 9 10 11 12 13 15 16 17 18 19 20 21 22 23 24 25 27 28 29',
  S: '1 3 4 5 6 7 8 9 10',
  T: '2 3 4 5',
  X: '1 2 3 4 5 6 8 9 10 11 12 13 14 15 16 17 18 19 20 21',
};

const FOLDER = join(import.meta.dirname, '..');

type Fault = {
  readonly fault: string;
  /** Why no test covers it, or not all of it. */
  readonly why?: string;
  /** Each a file and the beginning of a title. */
  readonly tests?: readonly Readonly<Record<string, string>>[];
};

const catalogue = parse(readFileSync(join(FOLDER, 'catalogue.yml'), 'utf8')) as Readonly<Record<string, Fault>>;

it('test/catalogue.yml has each fault once, with its tests or a reason', () => {
  const expected = Object.entries(ROWS).flatMap(([part, numbers]) => numbers.split(' ').map((n) => part + n));
  expect(Object.keys(catalogue)).toEqual(expected);
  const bare = Object.entries(catalogue).filter(
    ([, { tests = [], why = '' }]) => tests.length === 0 && why.length < 20,
  );
  expect(bare).toEqual([]);
});

it('test/catalogue.yml names existing test files and titles', () => {
  const named = Object.entries(catalogue).flatMap(([id, { tests = [] }]) =>
    tests.flatMap((test) => Object.entries(test).map(([file, title]) => ({ id, file, title }))),
  );
  const broken = named.flatMap(({ id, file, title }) => {
    const path = file.startsWith('packages/') ? join(FOLDER, '..', file) : join(FOLDER, file);
    if (!existsSync(path)) return [`${id}: there is no ${file}`];
    return readFileSync(path, 'utf8').includes(title) ? [] : [`${id}: ${file} has no “${title}”`];
  });
  expect(broken).toEqual([]);
  expect(named.length).toBeGreaterThan(150);
});

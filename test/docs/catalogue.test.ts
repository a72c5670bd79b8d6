// The catalogue of faults (test/catalogue.md): every row is there once, and its cover exists.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';

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
const lines = readFileSync(join(FOLDER, 'catalogue.md'), 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, id, cover] = /^- \*\*([A-Z]\d+)\*\* [^<]+<br>(.+)$/.exec(line) ?? [];
    return id === undefined || cover === undefined ? [] : [{ id, cover: cover.split('<br>') }];
  });

it('test/catalogue.md has each fault once, with its tests or a reason', () => {
  const expected = Object.entries(ROWS).flatMap(([part, numbers]) => numbers.split(' ').map((n) => part + n));
  expect(lines.map((l) => l.id)).toEqual(expected);
  expect(lines.filter((l) => l.cover.every((c) => c.trim().length < 20))).toEqual([]);
});

it('test/catalogue.md names existing test files and titles', () => {
  const broken: string[] = [];
  let named = 0;
  for (const { id, cover } of lines) {
    for (const part of cover) {
      const [, file, name] = /^`(.+?\.test\.ts)`: “(.+)”$/.exec(part.trim()) ?? [];
      if (file === undefined || name === undefined) continue;
      named++;
      const path = file.startsWith('packages/') ? join(FOLDER, '..', file) : join(FOLDER, file);
      if (!existsSync(path)) broken.push(`${id}: there is no ${file}`);
      else if (!readFileSync(path, 'utf8').includes(name)) broken.push(`${id}: ${file} has no “${name}”`);
    }
  }
  expect(broken).toEqual([]);
  expect(named).toBeGreaterThan(150);
});

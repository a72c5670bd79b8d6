// Files of exports and settings: who may read them, and what stands at their name.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { chmodSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { intoFile, replaceFile } from '../../../../src/frames/cli/into-file.js';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'crossbill-file-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const at = (name: string): string => join(folder, name);
const put = (name: string, text = 'new'): Promise<void> => intoFile(at(name), (to) => to(text));
const mode = (name: string): number => statSync(at(name)).mode & 0o777;

it.each([0o600, 0o640, 0o664])('a file that Crossbill replaces keeps its mode %o', async (before) => {
  writeFileSync(at('rows.csv'), 'old');
  chmodSync(at('rows.csv'), before);
  await put('rows.csv');
  expect([readFileSync(at('rows.csv'), 'utf8'), mode('rows.csv')]).toEqual(['new', before]);
});

it('only its owner may read a new file, whatever the umask allows', async () => {
  const umask = process.umask(0);
  try {
    await put('rows.csv');
  } finally {
    process.umask(umask);
  }
  expect(mode('rows.csv')).toBe(0o600);
});

it('a link stays, and the file behind it gets the text, even if that file does not exist yet', async () => {
  mkdirSync(at('shared'));
  symlinkSync('shared/env', at('.env'));
  await put('.env', 'A=1');
  await put('.env', 'A=2');
  expect(lstatSync(at('.env')).isSymbolicLink()).toBe(true);
  expect(readFileSync(at('shared/env'), 'utf8')).toBe('A=2');
});

it('a file that somebody put at the name of the unfinished one stays as it is', async () => {
  writeFileSync(at('victim'), 'kept');
  for (const end of ['part', 'new', 'tmp']) symlinkSync('victim', at(`rows.csv.${end}`));
  await put('rows.csv');
  expect(readFileSync(at('victim'), 'utf8')).toBe('kept');
});

it('a failed export leaves the old file, and no other file in its folder', async () => {
  writeFileSync(at('rows.csv'), 'old');
  const failed = intoFile(at('rows.csv'), async (to) => {
    await to('half');
    throw new Error('stopped');
  });
  await expect(failed).rejects.toThrow('stopped');
  expect([readFileSync(at('rows.csv'), 'utf8'), readdirSync(folder)]).toEqual(['old', ['rows.csv']]);
});

it('a text at hand replaces a file in the same way: a link stays, and the mode too', () => {
  writeFileSync(at('notes'), 'old', { mode: 0o640 });
  symlinkSync('notes', at('link'));
  replaceFile(at('link'), 'new');
  expect([readFileSync(at('notes'), 'utf8'), mode('notes'), lstatSync(at('link')).isSymbolicLink()]).toEqual([
    'new',
    0o640,
    true,
  ]);
  expect(readdirSync(folder).toSorted()).toEqual(['link', 'notes']);
});

it('a folder that does not exist, and a folder at the name of the file, are named as the trouble', async () => {
  await expect(put('nowhere/rows.csv')).rejects.toMatchObject({ code: 'not_written' });
  mkdirSync(at('rows.csv'));
  await expect(put('rows.csv')).rejects.toMatchObject({ code: 'not_written' });
});

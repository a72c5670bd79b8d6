// Counts that may only fall: what a reader of the bridge must read, and what a feature leaves outside of its folder.
import { expect, it } from '@jest/globals';
import { readSources } from './import-rules.js';

const src = readSources('src');
/** Lines without imports and re-exports: nobody reads those, and a file split by topic has more of them. */
const linesOf = (files: typeof src): number =>
  files.reduce((sum, { text }) => sum + text.replace(/^(import|export \{)[^;]*;\n/gm, '').split('\n').length - 1, 0);

it('the top of src has at most twelve entries', () => {
  expect(new Set(src.map(({ path }) => path.split('/')[0])).size).toBeLessThanOrEqual(12);
});

it('core, engine and shared have at most 26,700 lines besides imports', () => {
  expect(linesOf(src.filter(({ path }) => /^(core|engine|shared)\//.test(path)))).toBeLessThanOrEqual(26_700);
});

it('src has at most 58,550 lines besides imports', () => {
  expect(linesOf(src)).toBeLessThanOrEqual(58_550);
});

it('only the list of features names the folder of a feature from outside', () => {
  const outside = src.filter(({ path }) => path !== 'features.ts' && !path.startsWith('features/'));
  const names = outside.filter(({ text }) => /from '[./]*features\//.test(text)).map(({ path }) => path);
  expect(names).toEqual([]);
});

it('at most ten files know shadow mode', () => {
  expect(
    src.filter(({ text }) => /shadow/i.test(text.replace(/\/\/.*|\/\*[^]*?\*\//g, ''))).length,
  ).toBeLessThanOrEqual(10);
});

// What a spreadsheet, a document or a program leaves in the place of an id is no id; each id of a real sender is one.
import { expect, it } from '@jest/globals';
import { whatIsWrongWithId } from '../../../../src/shared/domain/id-text.js';

it.each([
  ['mc_0001'],
  ['cus_NffrFeUfNV2Hib'],
  ['00000000-0000-4000-8000-00000000e16a'],
  ['1234567890123456789'],
  ['12e5'],
  ['5E16'],
  ['mc.customer:eu/42+1'],
  ['Müller 7'],
  ['nullable_1'],
  ['none-of-them'],
  ["o'neil"],
  ['a#1'],
  ['x'.repeat(255)],
])('Crossbill accepts the id %s', (id) => {
  expect(whatIsWrongWithId(id)).toBeNull();
});

it.each([
  ['a shortened number', ['1.23457E+16', '1,23457E+16', '1E+16', '-1.5e-7', '4711.0', '4711,00']],
  [
    "a formula, or a text with a spreadsheet's text marker",
    ['="mc_0001"', '=A1', "'mc_0002", '"mc_0003"', '“mc_0004”', '«mc»'],
  ],
  [
    'a text with an invisible character',
    ['mc_0003\u200b', 'mc_\u200b0004', 'mc_00\u00ad05', '\u200fmc_0006', 'mc\u3164', 'mc\u2800', '\ufeffmc'],
  ],
  [
    'the error of a formula',
    ['#REF!', '#N/A', '#NAME?', '#VALUE!', '#DIV/0!', '#NV', '#BEZUG!', '#ÜBERLAUF!', 'Err:502', '########'],
  ],
  [
    'a word for an empty value',
    [
      'NULL',
      'null',
      'None',
      'N/A',
      'na',
      'undefined',
      'NaN',
      '-',
      '--',
      '\\N',
      '(null)',
      '<empty>',
      '[object Object]',
      'TRUE',
    ],
  ],
  ['a text with blanks around it, or unusual blanks', [' mc_0009', 'mc_0009 ', 'mc_0009\n', '\u00a0mc', 'mc\u00a07']],
  ['a broken, empty or too long text', ['', 'a\u0007b', 'a\ud800b', 'a\ufffdb', 'x'.repeat(256)]],
])('Crossbill refuses %s as an id', (_, texts) => {
  for (const text of texts) expect([text, whatIsWrongWithId(text)]).toEqual([text, expect.any(String)]);
});

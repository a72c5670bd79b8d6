// CSV for spreadsheets: what is written comes back as it was, no cell is a formula, and money is exact.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { cell, csvLine } from '../../../../src/shared/csv/write-csv.js';
import { decimalFromMinor, decimalsOf, MAX_MINOR, minorFromDecimal } from '../../../../src/shared/domain/money.js';
import { monthBeside, monthOf, nameOf } from '../../../../src/core/ledger/rules/month.js';
import { csvRows } from '../../../support/csv.js';
import { same } from '../../../support/same.js';
import { anyCharacter } from '../../../../packages/proof/src/fuzz/inputs/character.js';

it.each([
  ['=1+1', "'=1+1"],
  ['@SUM(A1)', "'@SUM(A1)"],
  ['-2+3', "'-2+3"],
  [' =1', "' =1"],
  ['\tx', `"'\tx"`],
  ['\uff1d1', "'\uff1d1"],
  ['+1,2', `"'+1,2"`],
  ['a,"b"', '"a,""b"""'],
  ['a;b', '"a;b"'],
  ['two\nlines', '"two\nlines"'],
  ['-12.50', '-12.50'],
  ['in_1', 'in_1'],
  ['', ''],
])('Crossbill writes the text %j as the CSV cell %j', (text, written) => expect(cell(text)).toBe(written));

const text = fc.oneof(
  fc.string({ unit: anyCharacter }),
  fc.string({ unit: fc.constantFrom('=', '+', '-', '@', ' ', '\t', '\r', '\n', '"', ',', ';', "'", '1', '.', 'a') }),
);

it('Crossbill reads a written CSV cell back unchanged, or with one apostrophe in front', () => {
  fc.assert(
    fc.property(fc.array(text, { minLength: 2, maxLength: 6 }), (cells) => {
      const [back = []] = csvRows(csvLine(cells));
      same(back.length, cells.length);
      back.forEach((value, i) => {
        if (value !== cells[i]) same(value, `'${cells[i] ?? ''}`);
      });
    }),
    { numRuns: 2_000 },
  );
});

it("no spreadsheet reads a cell of Crossbill's CSV as a formula, with a comma, semicolon or tab as separator", () => {
  fc.assert(
    fc.property(text, (given) => {
      const written = cell(given);
      const value = written.startsWith('"') ? written.slice(1, -1) : written;
      const begins = /^[=+\-@\uff1d\uff0b\uff0d\uff20]/.exec(value.trimStart());
      if (!/^-\d+(\.\d+)?$/.test(value)) same(begins, null);
      // What stands between separators without quotes begins a cell of its own.
      if (!written.startsWith('"')) same(/[,;\t\r\n]/.exec(written), null);
    }),
    { numRuns: 2_000 },
  );
});

it('a CSV amount has its currency’s decimals, and reads back as the same amount', () => {
  const currencies = fc.constantFrom('EUR', 'JPY', 'KWD', 'USD', 'UGX', 'ISK', 'TND', 'KRW', 'HUF');
  fc.assert(
    fc.property(fc.bigInt({ min: 0n, max: MAX_MINOR }), currencies, (minor, currency) => {
      const decimal = decimalFromMinor(minor, currency);
      expect(minorFromDecimal(decimal, currency)).toBe(minor);
      expect(decimal.split('.')[1]?.length ?? 0).toBe(decimalsOf(currency));
      expect(cell(decimal)).toBe(decimal);
      if (minor > 0n) expect(cell(decimalFromMinor(-minor, currency))).toBe(`-${decimal}`);
    }),
  );
});

it('an export’s month covers whole days in UTC and ends where the next month starts', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1970, max: 2200 }), fc.integer({ min: 1, max: 12 }), (year, n) => {
      const name = `${year}-${String(n).padStart(2, '0')}`;
      const month = monthOf(name);
      if (month === null) throw new Error(`${name} is a month`);
      expect(nameOf(month)).toBe(name);
      expect(monthBeside(month, 1).since).toEqual(month.until);
      expect(monthBeside(monthBeside(month, 1), -1)).toEqual(month);
      expect(month.since.toISOString()).toBe(`${name}-01T00:00:00.000Z`);
    }),
  );
  for (const wrong of ['2026-13', '2026-00', '2026-1', '26-01', '1969-12', '2026-11-01', ''])
    expect(monthOf(wrong)).toBeNull();
});

// A file of customers who are linked to the MoR: which columns it needs, and what is wrong with a line.
import { expect, it } from '@jest/globals';
import { bindColumns, ColumnsRefused, readImportLine } from '../../../../../src/core/customers/rules/import-line.js';

const message = (header: string[]): string => {
  try {
    bindColumns(header);
  } catch (e) {
    if (e instanceof ColumnsRefused) return `${e.code}: ${e.message}`;
    throw e;
  }
  return 'taken';
};

it('the customer import finds its columns by name, in any order and case, and lists the unused columns', () => {
  expect(bindColumns([' Reference ', ' Name', 'MOR_CUSTOMER', 'customer_id'])).toEqual({
    ...{ at: { customerId: 3, morCustomerId: 2, reference: 0 }, width: 4, unused: ['Name'] },
  });
  expect(bindColumns(['customer', 'mor_customer_id'])).toEqual({
    ...{ at: { customerId: 0, morCustomerId: 1, reference: null }, width: 2, unused: [] },
  });
});

it("the customer import refuses a first line with a missing or repeated column, and lists the file's columns", () => {
  const wanted = 'The first line must name the columns customer and mor_customer_id, and reference if there is one.';
  expect(message(['customer', ' name '])).toBe(
    `columns: There is no column mor_customer_id. ${wanted} The file has: customer, name.`,
  );
  expect(message(['mor_customer_id'])).toContain('There is no column customer.');
  expect(message(['customer', 'mor_customer_id', 'customer_id'])).toBe(
    'columns: The column customer is there 2 times. Keep one. The file has: customer, mor_customer_id, customer_id.',
  );
  expect(message(['customer', 'mor_customer_id', 'reference', 'reference', 'reference'])).toContain('there 3 times');
});

const columns = bindColumns(['customer', 'mor_customer_id', 'reference']);
const read = (...record: string[]) => readImportLine(record, 7, columns);
const wrong = (...record: string[]) => {
  const line = read(...record);
  return line.ok ? 'taken' : [line.problem.line, line.problem.customerId, line.problem.problem];
};

it('the customer import trims the cells of a line', () => {
  expect(read(' cus_1 ', ' mc_1', 'A 7 ')).toEqual({
    ...{ ok: true, row: { line: 7, customerId: 'cus_1', morCustomerId: 'mc_1', reference: 'A 7' } },
  });
  expect(read('cus_1', 'mc_1', ' ')).toMatchObject({ ok: true, row: { reference: null } });
  const short = bindColumns(['mor_customer', 'customer']);
  expect(readImportLine(['mc_1', 'cus_1'], 2, short)).toEqual({
    ...{ ok: true, row: { line: 2, customerId: 'cus_1', morCustomerId: 'mc_1', reference: null } },
  });
});

it('the customer import refuses a line with an extra value, without an id, or with the same id in both columns', () => {
  expect(wrong('cus_1', 'mc_1', '', 'x')).toEqual([
    7,
    'cus_1',
    'cell 4 has a value, and the first line names 3 columns',
  ]);
  expect(wrong()).toEqual([7, null, 'customer is empty']);
  expect(wrong(' ', 'mc_1', '')).toEqual([7, null, 'customer is empty']);
  expect(wrong('cus_1', '', '')).toEqual([7, 'cus_1', 'mor_customer_id is empty']);
  expect(wrong('cus_1', 'cus_1', '')).toEqual([7, 'cus_1', 'customer and mor_customer_id are the same']);
});

it('the customer import accepts a line with missing or extra empty cells at its end', () => {
  expect(read('cus_1', 'mc_1')).toMatchObject({ ok: true, row: { morCustomerId: 'mc_1', reference: null } });
  expect(read('cus_1', 'mc_1', 'b 7', '', ' ')).toMatchObject({ ok: true, row: { reference: 'b 7' } });
  const ended = bindColumns(['customer', 'mor_customer_id', '']);
  expect(ended).toMatchObject({ width: 2, unused: [] });
  expect(readImportLine(['cus_1', 'mc_1'], 2, ended)).toMatchObject({ ok: true });
  expect(readImportLine(['cus_1', 'mc_1', ''], 2, ended)).toMatchObject({ ok: true });
  expect(readImportLine(['cus_1', 'mc_1', 'x'], 2, ended)).toMatchObject({ ok: false });
});

it.each([
  ['a control character', 'a\u0007b'],
  ['half a Unicode character', 'a\ud800b'],
  ['bytes outside UTF-8', 'a\ufffdb'],
  ['256 characters', 'x'.repeat(256)],
  ['a number that a spreadsheet cut short', '1.23457E+16'],
  ['a formula', '="mc_0001"'],
  ['an error of a formula', '#REF!'],
  ['an invisible character', 'mc_\u200b0004'],
  ['a word for an empty value', 'NULL'],
])('the customer import refuses a cell with %s, names the column and does not print the value', (_, text) => {
  expect(wrong(text, 'mc_1', '')).toEqual([7, null, expect.stringMatching(/^customer /)]);
  expect(wrong('cus_1', text, '')).toEqual([7, 'cus_1', expect.stringMatching(/^mor_customer_id /)]);
  expect(wrong('cus_1', 'mc_1', text)).toEqual([7, 'cus_1', expect.stringMatching(/^reference /)]);
  expect(wrong('x'.repeat(255), 'mc_1', '')).toBe('taken');
});

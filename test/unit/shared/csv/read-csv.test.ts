// A CSV file is read the same in one go and from any record on; its encoding is known before anything of it is taken.
import { afterAll, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  CsvRefused,
  guessDelimiter,
  headerOf,
  type Placed,
  recordsOf,
  sizeOf,
} from '../../../../src/shared/csv/read-csv.js';

const folder = mkdtempSync(join(tmpdir(), 'crossbill-csv-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));
let files = 0;

function fileOf(text: string | Buffer): string {
  const path = join(folder, `${++files}.csv`);
  writeFileSync(path, text);
  return path;
}

async function read(path: string, byte = 0, line = 1): Promise<Placed[]> {
  const records: Placed[] = [];
  for await (const placed of recordsOf(path, { delimiter: ',', byte, line })) records.push(placed);
  return records;
}

it('Crossbill reads a CSV file with mixed line ends, and keeps a quoted line end in its cell', async () => {
  const records = await read(fileOf('id,note\r\na,"two\nlines"\nb,"two\r\nmore"\r\nc,old\rd,last'));
  expect(records.map((r) => [r.line, ...r.record])).toEqual([
    [1, 'id', 'note'],
    [2, 'a', 'two\nlines'],
    [4, 'b', 'two\r\nmore'],
    [6, 'c', 'old'],
    [7, 'd', 'last'],
  ]);
});

it('Crossbill can start to read a CSV file at any record, and reads the same records as from the beginning', async () => {
  const path = fileOf('id,note\r\na,"two\r\nlines"\nb,"\n"\r\nc,1\rd,2\n');
  const whole = await read(path);
  expect(whole).toHaveLength(5);
  for (const [n, { nextByte, nextLine }] of whole.entries())
    expect(await read(path, nextByte, nextLine)).toEqual(whole.slice(n + 1));
});

const latin1 = (text: string): string => fileOf(Buffer.from(text, 'latin1'));

async function refusal(path: string): Promise<[string, string] | null> {
  try {
    await headerOf(path, null);
    return null;
  } catch (e) {
    if (e instanceof CsvRefused) return [e.code, /^Line \d+ /.exec(e.message)?.[0].trim() ?? 'no line'];
    throw e;
  }
}

it('Crossbill refuses a CSV file in another encoding than UTF-8, and names the line', async () => {
  expect(await refusal(latin1('customer;mor_customer_id;reference\r\ncus_f1;mc_f1;Müller\r\n'))).toEqual([
    'encoding',
    'Line 2',
  ]);
  expect(await refusal(latin1('Art;Beleg;Betrag;Währung\r\nZahlung;ch_f1;29,90;EUR\r\n'))).toEqual([
    'encoding',
    'Line 1',
  ]);
  expect(await refusal(fileOf(Buffer.from('\ufeffcustomer', 'utf16le')))).toEqual(['encoding', 'no line']);
});

it('Crossbill finds a wrong byte far into a CSV file, and names the line', async () => {
  const lines = (count: number): string => 'cus_1,mc_1,x\r\n'.repeat(count);
  for (const n of [4_681, 5_000, 20_000])
    expect(await refusal(latin1(`customer,mor_customer_id,reference\r\n${lines(n)}cus_2,mc_2,Müller`))).toEqual([
      'encoding',
      `Line ${n + 2}`,
    ]);
  expect(await refusal(fileOf(Buffer.concat([Buffer.from('a,b\r\nc,'), Buffer.from('€').subarray(0, 2)])))).toEqual([
    'encoding',
    'Line 2',
  ]);
});

it('Crossbill reads a CSV file correctly where a character of several bytes spans two chunks', async () => {
  for (let shift = 0; shift < 8; shift++) {
    const text = `${'x'.repeat(shift)},b\r\n${'€😀é\r\n'.repeat(20_000)}`;
    expect(await refusal(fileOf(text))).toBeNull();
  }
});

it.each([
  ['sep=;\r\ncustomer;mor_customer_id\r\ncus_f2;mc_f2\r\n', ';'],
  ['\ufeffsep=,\ncustomer,mor_customer_id\ncus_f2,mc_f2\n', ','],
  ['SEP=\t\r\ncustomer\tmor_customer_id\r\ncus_f2\tmc_f2\r\n', '\t'],
  ['"sep=^"\rcustomer^mor_customer_id\rcus_f2^mc_f2', '^'],
])('the first line of a CSV file may set the separator: %j', async (text, sign) => {
  const path = fileOf(text);
  const { header, delimiter, next } = await headerOf(path, null);
  expect([header, delimiter, next.nextLine]).toEqual([['customer', 'mor_customer_id'], sign, 3]);
  const remaining: Placed[] = [];
  for await (const placed of recordsOf(path, { delimiter, byte: next.nextByte, line: next.nextLine }))
    remaining.push(placed);
  expect(remaining.map((r) => [r.line, ...r.record])).toEqual([[3, 'cus_f2', 'mc_f2']]);
});

it('the most frequent separator outside quotes separates the columns of a CSV file', () => {
  const lines = ['a,b', 'a;b,c;d', '"a,b,c,d";x;y', 'a\tb', 'a|b|c', 'a'];
  expect(lines.map(guessDelimiter)).toEqual([',', ';', ';', '\t', '|', ',']);
});

it.each<[string, string | Buffer, string]>([
  ['nothing in it', '', 'empty'],
  ['blank lines only', '\n\n\n', 'empty'],
  ['text in UTF-16', Buffer.from('\ufeffcustomer\ncus_1\n', 'utf16le'), 'encoding'],
  ["a spreadsheet's own format", Buffer.from('PK\u0003\u0004\u0000\u0000'), 'encoding'],
  ['a loose quote', 'id"2",note\n', 'not_csv'],
  ['a quote that nobody closes', `"id,note\n${'a,b\n'.repeat(20_000)}`, 'not_csv'],
])('Crossbill refuses a CSV file with %s as soon as it reads the header', async (_, content, code) => {
  await expect(headerOf(fileOf(content), null)).rejects.toMatchObject({ code });
});

it.each(['nothing.csv', '.'])('Crossbill refuses the CSV path %s, because no file is there', async (name) => {
  await expect(sizeOf(join(folder, name))).rejects.toMatchObject({ code: 'no_file' });
});

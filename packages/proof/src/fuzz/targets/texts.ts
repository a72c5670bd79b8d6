// Input by people: amounts, times, filters, files of customers.
import { parseTime, timeOf, Unreadable } from '@crossbill/mor/read.js';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { InvalidArgumentError } from 'commander';
import { parseFilterTime } from '#src/frames/api/http/filters.js';
import { parseJsonBody, canonicalJson } from '#src/frames/api/http/json-body.js';
import { Problem } from '#src/frames/api/http/problem.js';
import { isPlainText } from '#src/frames/api/http/rules.js';
import { parseAmount, parseCount, parseDay, parseMonth, parseSince } from '#src/frames/cli/options.js';
import { minorFromTyped, moneyFrom } from '#src/frames/console/list-filters.js';
import { CsvRefused, headerOf, isBlank, recordsOf } from '#src/shared/csv/read-csv.js';
import { cell, csvLine } from '#src/shared/csv/write-csv.js';
import { bindColumns, ColumnsRefused, readImportLine } from '#src/core/customers/rules/import-line.js';
import { decimalFromMinor, decimalsOf, MAX_MINOR, minorFromDecimal } from '#src/shared/domain/money.js';
import { typedAmount } from '#src/core/refunds/typed-amount.js';
import { bentJson } from '../inputs/json.js';
import { amountText, bent, oddText, timeText } from '../inputs/texts.js';
import { isStorable, mustBeInRange, mustBeKeepable } from '../ranges.js';
import { must, mustBeSame, orTyped, type Target } from '../target.js';

const currencies = fc.constantFrom('EUR', 'JPY', 'KWD', 'USD', 'HUF', 'XYZ');

const amounts: Target = {
  name: 'amounts',
  what: 'amounts of people and programs: no rounding, and the parsed value prints as the same amount',
  inputs: fc.oneof(
    fc.tuple(currencies, amountText).map((parts) => parts.join(' ')),
    fc
      .tuple(currencies, fc.bigInt({ min: 0n, max: MAX_MINOR + 2n }))
      .map(([currency, minor]) => `${currency} ${decimalFromMinor(minor, currency)}`),
    fc.tuple(currencies, oddText).map((parts) => parts.join(' ')),
  ),
  check(text) {
    const [currency, typed] = [text.slice(0, 3), text.slice(4)];
    const digits = (text: string): string => text.replace(/\D/g, '').replace(/^0+/, '');
    for (const read of [minorFromDecimal, typedAmount, minorFromTyped]) {
      const minor = read(typed, currency);
      if (minor === null) continue;
      must(minor >= 0n && minor <= MAX_MINOR, `${read.name} gives ${minor}`);
      // Parsing must not invent, lose or move a digit, whichever separator means decimals.
      const [given, printed] = [digits(typed), digits(decimalFromMinor(minor, currency))];
      must(given.replace(/0+$/, '') === printed.replace(/0+$/, ''), `${read.name} reads ${typed} as ${minor}`);
      mustBeSame(read(decimalFromMinor(minor, currency), currency), minor, `${read.name}, printed and read again`);
    }
    orTyped(() => parseAmount(typed), InvalidArgumentError);
    orTyped(() => parseCount(100)(typed), InvalidArgumentError);
    must(decimalsOf(currency) <= 3, 'a currency of more decimals');
  },
};

const times: Target = {
  name: 'times',
  what: 'times in events, answers, filters and options: kept by a database, or refused',
  inputs: fc.oneof(
    timeText,
    bent(timeText),
    oddText,
    fc.double().map((n) => `number ${n}`),
  ),
  check(text) {
    const number = text.startsWith('number ') ? Number(text.slice(7)) : null;
    const readers: Readonly<Record<string, (text: string) => Date | null>> = {
      'a filter': parseFilterTime,
      'an event': (t) => timeOf(number ?? t),
      'an answer of the MoR': (t) => orTyped(() => parseTime(t, 'x'), Unreadable),
      'an option': (t) => orTyped(() => parseSince(t), InvalidArgumentError),
      'a month': (t) => orTyped(() => parseMonth(t).since, InvalidArgumentError),
      'a day': (t) => orTyped(() => parseDay(t), InvalidArgumentError),
    };
    for (const [name, read] of Object.entries(readers)) {
      const at = read(text);
      if (at === null) continue;
      mustBeKeepable(at, name);
      if (name === 'a month' || name === 'an option' || name === 'a day') continue;
      mustBeSame(read(at.toISOString()), at, `${name}, printed and read again`);
    }
  },
};

const filters: Target = {
  name: 'console-filters',
  what: "the filters of the console's lists and exports",
  inputs: fc
    .dictionary(
      fc.constantFrom('since', 'until', 'currency', 'amount', 'customer_id'),
      fc.oneof(oddText, timeText, amountText, fc.constantFrom('EUR', 'jpy', '29,90')),
      { maxKeys: 5 },
    )
    .map((values) => JSON.stringify(values)),
  check(text) {
    const values = JSON.parse(text) as Record<string, string>;
    if (!Object.values(values).every((value) => isPlainText(value))) return; // every page refuses such a value earlier
    const filter = orTyped(() => moneyFrom(values), Problem);
    if (filter === null) return;
    const { customerId, ...rest } = filter;
    mustBeInRange(rest);
    must(customerId === undefined || customerId.length <= 255, 'a customer of any length');
    mustBeInRange(customerId ?? '');
  },
};

const jsonBodies: Target = {
  name: 'api-json',
  what: "bodies of the API: spelled numbers, and the canonical text for comparing an Idempotency-Key's requests",
  inputs: bentJson([
    { kind: 'payment', customer: { id: 'cus_1' }, amount: 2990, currency: 'eur', metadata: { a: 1e3 } },
  ]),
  check(text) {
    const parsed = parseJsonBody(Buffer.from(text));
    if (!parsed.ok) return must(parsed.reason.length < 100, 'a reason that repeats the body');
    const plain = JSON.parse(text === '' ? '{}' : Buffer.from(text).toString()) as Record<string, unknown>;
    mustBeSame(Object.keys(parsed.value), Object.keys(plain), 'the members');
    for (const [name, value] of Object.entries(parsed.value)) {
      if (typeof plain[name] === 'number' && typeof value === 'string')
        must(!/^-?\d+$/.test(value) && Object.is(Number(value), plain[name]), `${name} is another number`);
      else mustBeSame(value, plain[name], name);
    }
    const canonical = canonicalJson(plain);
    const turned = Object.fromEntries(Object.entries(plain).reverse());
    if (!('__proto__' in plain && Object.hasOwn(plain, '__proto__')))
      mustBeSame(canonicalJson(turned), canonical, 'the order of the members');
  },
};

const folder = mkdtempSync(join(tmpdir(), 'crossbill-fuzz-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
const file = join(folder, 'file.csv');

type Csv = { readonly table: readonly (readonly string[])[]; readonly written: string | null };
const table = fc.array(
  fc.array(
    fc.oneof(
      fc.constantFrom('cus_1', 'mcus_1', '', '"', 'a"b', 'a,b', 'a;b', 'a\nb', 'a\r\nb'),
      oddText.filter((t) => t.length < 60),
    ),
    { minLength: 3, maxLength: 3 },
  ),
  { maxLength: 4 },
);

const csv: Target = {
  name: 'csv-files',
  what: 'CSV files: written and read again, resumed at every place, and bent',
  inputs: fc
    .oneof(
      table.map((rows): Csv => ({ table: rows, written: null })),
      bent(table.map((rows) => ['customer,mor_customer_id,reference\r\n', ...rows.map(csvLine)].join(''))).map(
        (written): Csv => ({ table: [], written }),
      ),
    )
    .map((parts) => JSON.stringify(parts)),
  async check(text) {
    const { table: rows, written } = JSON.parse(text) as Csv;
    const storable = rows.map((row) => row.map((c) => [...c].map((ch) => (isStorable(ch) ? ch : 'x')).join('')));
    const lines = [['customer', 'mor_customer_id', 'reference'], ...storable];
    writeFileSync(file, written ?? lines.map(csvLine).join(''));
    try {
      const { header, delimiter, next } = await headerOf(file, written === null ? ',' : null);
      const found: { record: readonly string[]; nextByte: number; nextLine: number }[] = [];
      for await (const placed of recordsOf(file, { delimiter, byte: next.nextByte, line: next.nextLine }))
        found.push(placed);
      if (written === null) {
        // The exporter writes an apostrophe before every cell that a program could run as a formula.
        const expected = storable.map((row) => row.map((c) => plainCell(c)));
        mustBeSame(
          found.map(({ record }) => record),
          expected,
          'the records',
        );
      }
      for (const [n, { nextByte, nextLine }] of found.entries()) {
        if (n !== Math.floor(found.length / 2)) continue; // resume once only, in the middle of the file
        const remaining: (readonly string[])[] = [];
        for await (const { record } of recordsOf(file, { delimiter, byte: nextByte, line: nextLine }))
          remaining.push(record);
        mustBeSame(
          remaining,
          found.slice(n + 1).map(({ record }) => record),
          `resumed after record ${n + 1}`,
        );
      }
      const columns = bindColumns(header);
      for (const { record } of found) {
        const read = readImportLine(record, 2, columns);
        if (read.ok) mustBeInRange(read.row);
        else mustBeInRange(read.problem);
        isBlank({ record, line: 1, nextLine: 2, nextByte: 0 });
      }
    } catch (error) {
      if (!(error instanceof CsvRefused || error instanceof ColumnsRefused)) throw error;
      must(written !== null, `a file that we wrote is refused: ${error.message}`);
    }
  },
};

/** Returns a cell as a reader of the file gets it: as `cell` writes it, without the quotes. */
function plainCell(text: string): string {
  const written = cell(text);
  return written.startsWith('"') ? written.slice(1, -1).replaceAll('""', '"') : written;
}

export const textTargets: readonly Target[] = [amounts, times, filters, jsonBodies, csv];

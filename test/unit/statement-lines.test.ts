// How a statement's lines are read: amounts in three styles, dates, columns and kinds; what could mean two things is refused.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { decimalFromMinor, decimalsOf, MAX_MINOR } from '../../src/domain/money.js';
import { AMOUNT_STYLES } from '../../src/domain/statement.js';
import { readAmount } from '../../src/statements/rules/amount.js';
import { readDate, readDay } from '../../src/statements/rules/day.js';
import { readLine } from '../../src/statements/rules/line.js';
import { guessDelimiter } from '../../src/csv/read-csv.js';
import { bind, parseMapping } from '../../src/statements/rules/mapping.js';
import { same } from '../support/same.js';

const CURRENCIES = ['EUR', 'JPY', 'KWD', 'USD', 'HUF'];
const SIGNS = {
  dot: { point: '.', group: [',', ' ', '\u00a0', "'", ''] },
  comma: { point: ',', group: ['.', ' ', '\u202f', "'", ''] },
};

describe('amounts of a statement', () => {
  it('are read exactly, in every style, grouping, sign and currency, as they were written', () => {
    fc.assert(
      fc.property(
        fc.bigInt({ min: -MAX_MINOR, max: MAX_MINOR }),
        fc.constantFrom(...CURRENCIES),
        fc.constantFrom(...AMOUNT_STYLES),
        fc.nat(4),
        fc.constantFrom('-', '\u2212', 'behind', '()', '- '),
        fc.nat(3),
        (minor, currency, style, grouping, sign, zeros) => {
          const size = minor < 0n ? -minor : minor;
          const plain = decimalFromMinor(size, currency);
          const [whole = '', fraction = ''] = plain.split('.');
          const signs = style === 'minor' ? null : SIGNS[style];
          const grouped = whole.replace(/\B(?=(\d{3})+$)/g, signs?.group[grouping] ?? '');
          const more = decimalsOf(currency) > 0 ? '0'.repeat(zeros) : '';
          const digits =
            signs === null ? size.toString() : fraction === '' ? grouped : grouped + signs.point + fraction + more;
          const negative = sign === '()' ? `(${digits})` : sign === 'behind' ? `${digits}-` : sign + digits;
          const text = minor < 0n ? negative : digits;
          same(readAmount(` ${text} `, style, currency), { ok: true, minor });
        },
      ),
      { numRuns: 2_000 },
    );
  });

  it('are made of the digits that are written, in their order, whatever the text is: nothing is rounded or dropped', () => {
    const parts = fc.constantFrom('0', '1', '23', '456', '789', '.', ',', '-', ' ', '(', ')', 'e', '\u00a0');
    fc.assert(
      fc.property(fc.array(parts, { maxLength: 8 }), fc.constantFrom(...AMOUNT_STYLES), (list, style) => {
        const read = readAmount(list.join(''), style, 'EUR');
        const bare = (text: string): string => text.replace(/\D/g, '').replace(/^0+|0+$/g, '');
        if (read.ok) same(bare(read.minor.toString()), bare(list.join('')));
      }),
      { numRuns: 3_000 },
    );
  });

  it.each([
    ['1,23', 'dot'],
    ['1.23', 'comma'],
    ['1.234,56', 'dot'],
    ['1,234.56', 'comma'],
    ['12,34,567.00', 'dot'],
    ['1,234,56.00', 'dot'],
    ['1.5', 'minor'],
    ['1,000', 'minor'],
    ['', 'dot'],
    ['-', 'dot'],
    ['--5', 'dot'],
    ['-5-', 'dot'],
    ['(-5)', 'dot'],
    ['1e3', 'dot'],
    ['0x10', 'dot'],
    ['12.34.56', 'dot'],
    ['.50', 'dot'],
    ['5.', 'dot'],
    ['5 EUR', 'dot'],
    ['\u0661\u0662', 'dot'],
    ['9007199254740992', 'minor'],
    ['1.234', 'dot'],
  ] as const)('%p is no amount of style %s, and the reason quotes it', (text, style) => {
    expect(readAmount(text, style, 'EUR')).toEqual({ ok: false, why: expect.stringContaining(JSON.stringify(text)) });
  });

  it.each([
    ['+5', 'dot', 500n],
    ['+12.50', 'dot', 1250n],
    ['12 345,00', 'comma', 1234500n],
    ['123,456,789.00', 'dot', 12345678900n],
    ['-0', 'dot', 0n],
  ] as const)('%p of style %s is %s: a plus is no minus', (text, style, minor) => {
    expect(readAmount(text, style, 'EUR')).toEqual({ ok: true, minor });
  });

  it('begin with one to three digits before the first sign of a group', () => {
    for (const text of ['1234,567.00', 'x1,234.00', '1234,567', '12x,345'])
      expect(readAmount(text, 'dot', 'EUR').ok).toBe(false);
  });

  it('of smallest units have no decimals, whatever the currency has', () => {
    expect(readAmount('1234', 'minor', 'KWD')).toEqual({ ok: true, minor: 1234n });
    expect(readAmount('1234', 'minor', 'JPY')).toEqual({ ok: true, minor: 1234n });
  });

  it('that cannot be read are quoted to their fortieth sign, with how they should be written', () => {
    const long = readAmount('x'.repeat(50), 'comma', 'EUR');
    expect(long.ok ? '' : long.why).toBe(
      `the amount "${'x'.repeat(40)}" is not written like 1.234,56 or 1234,56 (amounts: comma)`,
    );
  });

  it('with more decimals than the currency has are read only when those are zeros', () => {
    expect(readAmount('10.00', 'dot', 'JPY')).toEqual({ ok: true, minor: 10n });
    expect(readAmount('10.50', 'dot', 'JPY')).toMatchObject({
      ok: false,
      why: expect.stringContaining('more decimals'),
    });
    expect(readAmount('1.2340', 'dot', 'KWD')).toEqual({ ok: true, minor: 1234n });
  });
});

describe('dates of a statement', () => {
  it.each([
    ['2026-11-30', 'iso', '2026-11-30T00:00:00.000Z'],
    ['2026-11-30T23:30:15+02:00', 'iso', '2026-11-30T21:30:15.000Z'],
    ['2026-11-30 23:30', 'iso', '2026-11-30T23:30:00.000Z'],
    ['2026-11-30 23:30:15 UTC', 'iso', '2026-11-30T23:30:15.000Z'],
    ['30.11.2026', 'dmy', '2026-11-30T00:00:00.000Z'],
    ['3/4/2026 10:00', 'dmy', '2026-04-03T10:00:00.000Z'],
    ['2026-11-30T23:30-0530', 'iso', '2026-12-01T05:00:00.000Z'],
    ['2026-11-30T23:30:15.5Z', 'iso', '2026-11-30T23:30:15.000Z'],
    [' 2026-11-30 ', 'iso', '2026-11-30T00:00:00.000Z'],
    [' 30.11.2026, 10:00:07 ', 'dmy', '2026-11-30T10:00:07.000Z'],
    ['3/4/2026', 'mdy', '2026-03-04T00:00:00.000Z'],
  ] as const)('%s as %s is %s', (text, style, at) => {
    expect(readDate(text, style)?.toISOString()).toBe(at);
  });
  it.each([
    ['2026-02-30', 'iso'],
    ['30.11.2026', 'iso'],
    ['11/30/2026', 'dmy'],
    ['30.11.26', 'dmy'],
    ['today', 'iso'],
    ['2026-11-30T25:00', 'iso'],
  ] as const)('%s as %s is none', (text, style) => expect(readDate(text, style)).toBeNull());

  it('a bare day is its first moment, and a time or no day of the calendar is none', () => {
    expect(readDay('2026-11-24')?.toISOString()).toBe('2026-11-24T00:00:00.000Z');
    expect(['2026-02-31', '2026-11-24T10:00:00Z', '24.11.2026', ''].map(readDay)).toEqual([null, null, null, null]);
  });
});

describe('the mapping of a statement', () => {
  const header = ['Type', 'PSP ref', 'amount', 'currency'];

  it.each([
    [[], 'JSON object'],
    [{ colums: {} }, 'no member "colums"'],
    [{ columns: { total: 'x' } }, '"total"'],
    [{ columns: { charge: '' } }, 'columns.charge'],
    [{ amounts: 'euro' }, 'amounts must be one of dot, comma, minor'],
    [{ dates: 'ymd' }, 'dates must be one of'],
    [{ currency: 'EURO' }, 'currency'],
    [{ delimiter: ';;' }, 'delimiter'],
    [{ types: { sale: 'x' } }, '"sale"'],
    [{ types: { payment: [''] } }, 'types.payment'],
    [{ types: { payment: [7] } }, 'types.payment'],
    [{ types: [] }, 'types must be an object'],
    [{ columns: 'charge' }, 'columns must be an object'],
    [{ columns: { charge: 7 } }, 'columns.charge'],
    [{ delimiter: 7 }, 'delimiter'],
    [{ delimiter: '"' }, 'delimiter'],
    ['dot', 'JSON object'],
    [null, 'JSON object'],
    [{ types: { payment: ['x'], refund: ['X'] } }, 'stands for payment and for refund'],
  ])('%j is refused with what is wrong', (value, why) => {
    expect(() => parseMapping(value)).toThrow(why);
  });

  it('may name a kind by one word or by several, and the sign between the columns, a tab by its name', () => {
    const one = parseMapping({ types: { payment: ' Sale ', refund: ['Back', 'back'] }, delimiter: ';' });
    expect(one).toMatchObject({ types: { payment: ['sale'], refund: ['back', 'back'] }, delimiter: ';' });
    expect(parseMapping({ delimiter: 'tab' }).delimiter).toBe('\t');
    const bound = bind(one, ['type', ' charge_id ', 'amount', 'currency']);
    expect([...bound.types]).toEqual(
      expect.arrayContaining([
        ...[
          ['payment', 'payment'],
          ['sale', 'payment'],
          ['back', 'refund'],
        ],
      ]),
    );
    expect(bound.types.size).toBe(7);
  });

  it('needs one column that names a charge, a payment or a refund, and a currency that is said once for all or in a column', () => {
    const bare = parseMapping({ currency: 'EUR' });
    for (const name of ['charge', 'payment_id', 'refund_reference']) expect(bind(bare, [name, 'amount']).width).toBe(2);
    expect(() => bind(bare, ['amount'])).toThrow('The statement has: amount.');
    expect(() => bind(parseMapping({}), ['charge', ' amount '])).toThrow('The statement has: charge, amount.');
  });

  it('names the columns that there are when one is missing, twice, or not known', () => {
    const map =
      (columns: object, names = header) =>
      () =>
        bind(parseMapping({ columns }), names);
    expect(map({ charge: 'PSP' })).toThrow(
      'There is no column "PSP" for charge. The statement has: Type, PSP ref, amount, currency.',
    );
    expect(map({})).toThrow('No column is known to name a charge');
    expect(map({ charge: 'psp REF' }, [...header, 'Amount'])).toThrow('The column for amount is there 2 times');
    expect(map({ charge: 'PSP ref' }, ['PSP ref', 'amount'])).toThrow('--currency EUR');
    expect(map({ charge: 'PSP ref' }, ['PSP ref', 'sum', 'currency'])).toThrow('--column amount=');
    expect(map({ charge: 'psp REF' })().at).toEqual({ type: 0, charge: 1, amount: 2, currency: 3 });
  });

  it('finds the sign between the columns outside quotes', () => {
    expect(['a,b', 'a;b,c;d', '"a,b,c,d";x;y', 'a\tb', 'a|b|c', 'a'].map(guessDelimiter)).toEqual([
      ',',
      ';',
      ';',
      '\t',
      '|',
      ',',
    ]);
  });
});

describe('a line of a statement', () => {
  const bound = bind(
    parseMapping({
      columns: { charge: 'ref' },
      types: { payment: ['Sale'], ignore: ['payout'] },
      amounts: 'comma',
      dates: 'dmy',
    }),
    ['type', 'ref', 'payment', 'refund', 'amount', 'currency', 'date', 'fee'],
  );
  const read = (...record: string[]) => readLine(record, 7, bound);

  it('is read with its ids, amount, currency, date and fee', () => {
    expect(read('SALE', 'ch_1', 'pay_1', '-', '1.234,56', 'eur', '30.11.2026', '0,35')).toEqual({
      ok: true,
      line: {
        ...{
          line: 7,
          type: 'payment',
          charge: 'ch_1',
          payment: 'pay_1',
          refund: null,
          amount: 123456n,
          currency: 'EUR',
        },
        ...{ at: new Date('2026-11-30'), fee: 35n },
      },
    });
  });

  it('without a type column and with one currency for all is read without either', () => {
    const plain = bind(parseMapping({ currency: 'EUR', dates: 'dmy' }), ['charge', 'amount', 'fee', 'date']);
    expect(readLine([' ch_1 ', ' 12.34 ', '', '', ' '], 2, plain)).toMatchObject({
      ...{ ok: true, line: { type: null, charge: 'ch_1', amount: 1234n, currency: 'EUR', fee: null, at: null } },
    });
    const ids = ['', '-', 'null', 'N/A', 'xnull', 'nullx'].map((id) => readLine([id, '1.00'], 2, plain));
    expect(ids.map((r) => (r.ok === true ? r.line.charge : r))).toEqual([null, null, null, null, 'xnull', 'nullx']);
    const longest = readLine(['c'.repeat(255), '1.00'], 2, plain);
    expect(longest).toMatchObject({ ok: true, line: { charge: 'c'.repeat(255) } });
  });

  it('that cannot be read is quoted in part, not whole', () => {
    const why = [
      read('T'.repeat(70), 'ch_1', '', '', '12,34', 'EUR'),
      read('Sale', 'ch_1', '', '', '12,34', 'X'.repeat(30)),
      read('Sale', 'ch_1', '', '', '12,34', 'EUR', '9'.repeat(50)),
    ].map((r) => (r.ok === false ? r.why : ''));
    expect(why).toEqual([
      `its type "${'T'.repeat(60)}" is not mapped: say --type payment="${'T'.repeat(60)}", or refund, fee, returned, ignore`,
      `its currency "${'X'.repeat(20)}" is no code such as EUR`,
      `the date "${'9'.repeat(40)}" is not written as dmy (--dates)`,
    ]);
  });

  it('that cannot be read says which part of it, and one of an ignored type is passed over', () => {
    expect(read('payout')).toEqual({ ok: null });
    const why = [
      read('Sale', 'ch_1', '', '', '12.34', 'EUR'),
      read('Sale', 'ch_1', '', '', '12,34', 'E'),
      read('Sale', 'ch_1', '', '', '12,34', 'EUR', '11/30/2026'),
      read('Sale', 'ch_1', '', '', '12,34', 'EUR', '', 'free'),
      read('Sale', 'ch_1', '', '', '12,34', 'EUR', '', '', 'more'),
      read('Sale', 'c'.repeat(256), '', '', '12,34', 'EUR'),
      read('Sale', 'ch\u0000', '', '', '12,34', 'EUR'),
      read('Adjustment', 'ch_1', '', '', '12,34', 'EUR'),
      read('', 'ch_1', '', '', '12,34', 'EUR'),
      read('Sale', 'ch_1'),
    ].map((r) => (r.ok === false ? [r.kind, r.why] : r));
    expect(why).toEqual([
      ['unreadable', expect.stringContaining('"12.34"')],
      ['unreadable', expect.stringContaining('currency "E"')],
      ['unreadable', expect.stringContaining('"11/30/2026" is not written as dmy')],
      ['unreadable', expect.stringContaining('fee: the amount "free"')],
      ['unreadable', 'it has 9 columns, the first line has 8'],
      ['unreadable', 'its charge id is longer than 255 characters'],
      ['unreadable', 'its charge id holds a control character'],
      ['unknown_type', expect.stringContaining('"Adjustment" is not mapped: say --type payment="Adjustment"')],
      ['unknown_type', 'its type is empty'],
      ['unreadable', expect.stringContaining('currency ""')],
    ]);
  });
});

// Texts and numbers that often break parsers.
import fc from 'fast-check';
import { anyCharacter } from './character.js';

export const PROTOTYPE_NAMES = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf'];

/** Browsers read this text as markup, unless the page escapes it. */
export const MARKUP = '<zq9 onload=x>';

const PLAIN = [
  '',
  ' ',
  'null',
  'undefined',
  'NaN',
  '0',
  '-0',
  '00',
  '1',
  '-1',
  '+1',
  '1.0',
  '1e3',
  '0x10',
  '1,000',
  '1.000,00',
  '1 000.00',
  '٣',
  '１２',
  '9007199254740991',
  '9007199254740992',
  '9007199254740993',
  '9223372036854775807',
  '9223372036854775808',
  '-9223372036854775809',
  '99999999999999999999999999',
  'in_1',
  'evt_1',
  'pay_1',
  'mor:pay_1',
  'event:stripe:evt_1',
  'eur',
  'EUR',
  'euro',
  '0000-01-01',
  '0001-01-01T00:00:00+14:00',
  '9999-12-31T23:59:59-14:00',
  '2026-02-30',
  '2026-11-22',
  '2026-11-22T24:00:00Z',
  '2026-11-22T08:30:00+99:99',
  '2026-11-22T08:30:60Z',
  '+010000-01-01T00:00:00Z',
  'http://169.254.169.254/',
  'javascript:alert(1)',
  '../../etc/passwd',
  '%00',
  '%2e%2e%2f',
  '%E0%A4%A',
  "';drop table payment;--",
  '=1+1',
  '@SUM(A1)',
  '\u202e\u2066',
  '\u2028',
  '\ufeff',
  '\ufffd',
  '\0',
  'a\0b',
  '\r\nSet-Cookie: a=b',
  '\ud800',
  'a\udfff',
  '💸',
  'e\u0301',
  MARKUP,
  '4111 1111 1111 1111',
  'sk_live_0123456789',
  ...PROTOTYPE_NAMES,
];

const LONG = [255, 256, 500, 501, 2_000, 2_001, 5_001, 20_000];

/** Unusual texts. Most of them are short. */
export const oddText: fc.Arbitrary<string> = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(...PLAIN) },
  { weight: 3, arbitrary: fc.string({ maxLength: 12 }) },
  { weight: 2, arbitrary: fc.string({ unit: anyCharacter, maxLength: 8 }) },
  { weight: 1, arbitrary: fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((n) => String.fromCharCode(n)) }) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(
        fc.constantFrom('x', '1', ' ', ',', '.', '=', '-', '"', 'é', '💸', '\0', 'a=', '1,', ' .'),
        fc.constantFrom(...LONG),
      )
      .map(([unit, length]) => unit.repeat(Math.ceil(length / unit.length)).slice(0, length)),
  },
);

/** Draws a time as text: mostly valid, sometimes near the ends of the range, sometimes almost valid. */
export const timeText: fc.Arbitrary<string> = fc
  .record({
    year: fc.oneof(
      fc.constantFrom('0000', '0001', '1969', '1970', '2026', '9999', '10000', '-001'),
      fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, '0')),
    ),
    month: fc.integer({ min: 0, max: 13 }),
    day: fc.integer({ min: 0, max: 32 }),
    time: fc.constantFrom(
      '',
      'T00:00',
      'T23:59:59',
      'T24:00:00',
      'T08:30:00.123456',
      ' 08:30',
      'T08:30:60',
      'T00:00:00.000000000',
    ),
    zone: fc.constantFrom(
      '',
      'Z',
      '+14:00',
      '-14:00',
      '+00:00',
      '-00:00',
      '+23:59',
      '-23:59',
      '+0530',
      'UTC',
      '+99:99',
    ),
    sign: fc.constantFrom('-', '-', '-', '/', '.'),
  })
  .map(({ year, month, day, time, zone, sign }) => {
    const two = (count: number): string => String(count).padStart(2, '0');
    return sign === '-'
      ? `${year}-${two(month)}-${two(day)}${time}${zone}`
      : `${two(day)}${sign}${two(month)}${sign}${year}${time.replace('T', ' ')}`;
  });

/** Amounts as people type them: digits with separators. */
export const amountText: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: fc.constantFrom(...'0123456789', '.', ',', ' ', "'", '\u00a0'), maxLength: 24 }),
  fc
    .tuple(
      fc.bigInt({ min: 0n, max: 10n ** 19n }),
      fc.constantFrom('', '.', ','),
      fc.bigInt({ min: 0n, max: 9999n }),
      fc.constantFrom('', '-', '+', '(', '−'),
    )
    .map(
      ([whole, mark, remaining, sign]) =>
        `${sign}${whole}${mark}${mark === '' ? '' : remaining}${sign === '(' ? ')' : ''}`,
    ),
);

/** A valid text with characters lost, doubled, exchanged or added. */
export function bent(right: fc.Arbitrary<string>): fc.Arbitrary<string> {
  const change = fc.record({
    at: fc.nat(),
    drop: fc.nat(3),
    put: fc.oneof({ weight: 3, arbitrary: fc.constant('') }, oddText),
  });
  return fc.tuple(right, fc.array(change, { maxLength: 3 })).map(([text, changes]) =>
    changes.reduce((now, { at, drop, put }) => {
      const place = at % (now.length + 1);
      return now.slice(0, place) + put + now.slice(place + drop);
    }, text),
  );
}

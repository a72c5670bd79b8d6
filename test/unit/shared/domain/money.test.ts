// Money as exact integers, and the way between them and what people and peers write.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import {
  decimalFromMinor,
  decimalsOf,
  grouped,
  MAX_MINOR,
  minorFromDecimal,
  money,
  parseCurrency,
  sameMoney,
  sayMoney,
  showMoney,
} from '../../../../src/shared/domain/money.js';

it('Crossbill uses Stripe’s number of decimals for each currency, in upper or lower case', () => {
  const none = 'BIF CLP DJF GNF JPY KMF KRW MGA PYG RWF VND VUV XAF XOF XPF jpy';
  const three = 'BHD JOD KWD OMR TND kwd';
  const two = 'EUR USD GBP CHF UGX HUF TWD ISK eur';
  expect(none.split(' ').map(decimalsOf)).toEqual(none.split(' ').map(() => 0));
  expect(three.split(' ').map(decimalsOf)).toEqual(three.split(' ').map(() => 3));
  expect(two.split(' ').map(decimalsOf)).toEqual(two.split(' ').map(() => 2));
});

it.each([
  ['10.10', 'EUR', 1010n],
  ['10.1', 'EUR', 1010n],
  ['10.100', 'EUR', 1010n],
  ['10', 'EUR', 1000n],
  ['0.05', 'EUR', 5n],
  ['007', 'EUR', 700n],
  ['10', 'JPY', 10n],
  ['10.0', 'JPY', 10n],
  ['1.234', 'KWD', 1234n],
  ['1.2', 'KWD', 1200n],
  ['1.000000000000', 'EUR', 100n],
  ['90071992547409.91', 'EUR', MAX_MINOR],
  ['9007199254740991', 'JPY', MAX_MINOR],
])('Crossbill reads the amount %s %s as exactly %s minor units', (text, currency, minor) => {
  expect(minorFromDecimal(text, currency)).toBe(minor);
});

it.each([
  ['10.101', 'EUR', 'more digits than are counted'],
  ['10.5', 'JPY', 'a part of a yen'],
  ['90071992547409.92', 'EUR', 'more than a JSON number holds exactly'],
  ['12345678901234567', 'JPY', 'seventeen digits'],
  ['1.0000000000000', 'EUR', 'thirteen decimals'],
  ['-1.00', 'EUR', 'a sign'],
  ['+1.00', 'EUR', 'a sign'],
  ['1e3', 'EUR', 'an exponent'],
  ['1,00', 'EUR', 'a comma'],
  ['1 000.00', 'EUR', 'a blank'],
  [' 1.00', 'EUR', 'a blank before it'],
  ['1.00 ', 'EUR', 'a blank after it'],
  ['1.', 'EUR', 'a point and nothing behind it'],
  ['.5', 'EUR', 'nothing before the point'],
  ['', 'EUR', 'nothing at all'],
])('Crossbill refuses the amount %p %s (%s)', (text, currency) => {
  expect(minorFromDecimal(text, currency)).toBeNull();
});

it('an amount stays the same after conversion to a decimal and back, in every currency', () => {
  const minor = fc.bigInt(0n, MAX_MINOR);
  fc.assert(
    fc.property(minor, fc.constantFrom('EUR', 'JPY', 'KWD'), (n, c) => {
      expect(minorFromDecimal(decimalFromMinor(n, c), c)).toBe(n);
    }),
  );
});

it.each([
  [1010n, 'EUR', '10.10'],
  [5n, 'EUR', '0.05'],
  [0n, 'EUR', '0.00'],
  [-5n, 'EUR', '-0.05'],
  [-129_900n, 'USD', '-1299.00'],
  [0n, 'JPY', '0'],
  [-7n, 'JPY', '-7'],
  [1n, 'KWD', '0.001'],
  [1234n, 'KWD', '1.234'],
])('Crossbill writes %s minor units of %s as %s', (minor, currency, text) => {
  expect(decimalFromMinor(minor, currency)).toBe(text);
});

it('Crossbill shows an amount with thousands separators on a page, and without them in text to copy', () => {
  expect(['999', '1000', '999999', '1234567.50', '-1234.00', '0.0015'].map(grouped)).toEqual([
    ...['999', '1,000', '999,999', '1,234,567.50', '-1,234.00', '0.0015'],
  ]);
  expect(sayMoney({ minor: 129_900n, currency: 'USD' })).toBe('1,299.00 USD');
  expect(showMoney({ minor: 129_900n, currency: 'USD' })).toBe('1299.00 USD');
});

it('Crossbill accepts three letters as a currency code, and writes them in upper case', () => {
  expect(['eur', 'EUR', 'Jpy'].map(parseCurrency)).toEqual(['EUR', 'EUR', 'JPY']);
  for (const wrong of ['eu', 'euro', 'eu1', ' eur', 'eur ', 'é€r', '', 42, null, undefined]) {
    expect(parseCurrency(wrong)).toBeNull();
  }
  expect(money(5n, 'eur')).toEqual({ minor: 5n, currency: 'EUR' });
});

it('Crossbill treats equal numbers in two currencies as different amounts', () => {
  expect(sameMoney(money(5n, 'EUR'), money(5n, 'EUR'))).toBe(true);
  expect(sameMoney(money(5n, 'EUR'), money(5n, 'USD'))).toBe(false);
  expect(sameMoney(money(5n, 'EUR'), money(6n, 'EUR'))).toBe(false);
});

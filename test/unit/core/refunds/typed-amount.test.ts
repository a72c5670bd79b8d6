// An amount as a person types it.
import { expect, it } from '@jest/globals';
import { typedAmount } from '../../../../src/core/refunds/typed-amount.js';

it.each([
  ['12.50', 'GBP', 1_250n],
  ['12,50', 'GBP', 1_250n],
  ['12,5', 'EUR', 1_250n],
  ['12', 'EUR', 1_200n],
  ['1,234', 'KWD', 1_234n],
  ['500', 'JPY', 500n],
  ['1,000', 'EUR', null], // a thousand, or one: nobody can know
  ['1.000', 'EUR', null],
  ['1,000', 'JPY', null],
  ['1.000,00', 'EUR', null],
  ['1,000.00', 'EUR', null],
  ['', 'EUR', null],
  [',50', 'EUR', null],
  ['1e1', 'EUR', null],
  ['-1', 'EUR', null],
  [' 5', 'EUR', null],
])('the refund form reads %j in %s as %s minor units, or null if the amount is unclear', (text, currency, minor) => {
  expect(typedAmount(text, currency)).toBe(minor);
});

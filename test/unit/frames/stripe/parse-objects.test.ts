// Events of Stripe's list, as verify reads them: whose balance has moved.
import { expect, it } from '@jest/globals';
import { parseEvent } from '../../../../src/frames/stripe/parse-objects.js';

const moves = (type: string, data: object): boolean | undefined =>
  parseEvent({ object: 'event', id: 'evt_1', created: 1_794_009_605, type, data })?.movesBalance;
const changed = (previous_attributes: object): object => ({ object: { id: 'cus_1' }, previous_attributes });

it('Crossbill reads a changed customer balance in any currency from a Stripe event', () => {
  expect(moves('customer.updated', changed({ balance: 0 }))).toBe(true);
  expect(moves('customer.updated', changed({ invoice_credit_balance: { jpy: 0 } }))).toBe(true);
});

it('a customer.updated event without a list of changes counts as a changed balance, and other customer events do not', () => {
  expect(moves('customer.updated', { object: { id: 'cus_1' } })).toBe(true);
  expect(moves('customer.updated', changed({ email: null }))).toBe(false);
  expect(moves('customer.created', { object: { id: 'cus_1' } })).toBe(false);
});

// A lost dispute of money that settles no invoice: the customer owes nothing for it, and is not to be billed.
import { expect, it } from '@jest/globals';
import { aDispute, only, paidTwice, withThem } from '../support/disputed-lane.js';

const lost = aDispute({
  ...{ paymentRowId: 'pmt_2', status: 'lost' },
  detail: { names: ['pay_2'], outcome: 'lost', outcomeAt: '2026-11-20T12:00:00.000Z' },
});

it.each(['parked', 'closed'] as const)('of a payment that is %s', (mark) => {
  expect(only(withThem(paidTwice({ mark }), [lost]))).toMatchObject({
    summary: 'dispute dp_1 was lost: the bank took 29.90 EUR back; that money stands on no invoice',
    proposal:
      'Do not bill the customer for it: it paid for nothing. Settle the item of the payment itself, then dismiss this.',
  });
});

it('that was given back in part as well: neither is it to be billed', () => {
  const item = only(
    withThem(paidTwice({ mark: 'parked', amountRefunded: 990n }), [{ ...lost, amount: 2990n, currency: 'EUR' }]),
  );
  expect(item?.summary).toMatch(/20\.00 EUR is booked as lost; that money stands on no invoice$/);
  expect(item?.proposal).not.toContain('Bill the customer');
  expect(item?.proposal).not.toContain('The invoice stays paid');
});

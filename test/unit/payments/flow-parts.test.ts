// An invoice that is paid in parts: a person lets one through, and what comes beside it is its rest or not.
import { wordsOf } from '../../support/item-words.js';
import { expect, it } from '@jest/globals';
import { anInvoice, aPaymentSucceeded, INVOICE_ID } from '../../support/builders.js';
import { LaneHarness } from '../../support/lane-harness.js';
import { resolveReview } from '../../support/decide.js';

/** 4.00 of 10.00 were taken, and a person has applied them. */
async function partApplied(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ amountDue: 1000n }));
  await h.take(aPaymentSucceeded({ paymentId: 'pay_part', amount: 400 }));
  const [item] = (await h.state(INVOICE_ID)).reviews;
  const choice = { resolution: 'apply', note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  await h.rest();
  return h;
}

it.each([
  [600, 'the rest, and is marked after it', 'confirmed', []],
  [500, 'less than the rest, and a person is asked whether it is a part too', 'parked', ['6.00 EUR is due']],
  [1000, 'more than the rest, and a person is asked', 'parked', ['6.00 EUR is due']],
])('next to a part of 4.00 under way, %s cents arrive: %s', async (amount, _what, mark, says) => {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice({ amountDue: 1000n }));
  await h.take(aPaymentSucceeded({ paymentId: 'pay_part', amount: 400 }));
  const [item] = (await h.state(INVOICE_ID)).reviews;
  h.platform.fail('report_payment', 'retry'); // Stripe is busy for a second
  const choice = { resolution: 'apply', note: null, by: 'ada' } as const;
  await h.command(INVOICE_ID, (s, ctx) => resolveReview(s, item?.id ?? '', choice, ctx));
  await h.drain();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount }));
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect(s.payments.map((p) => p.mark)).toEqual(['confirmed', mark]);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open.map((r) => wordsOf(r).summary)).toEqual(says.map((text) => expect.stringContaining(text)));
  expect(h.platform.invoices.get(INVOICE_ID)?.status).toBe(mark === 'confirmed' ? 'paid' : 'open');
});

it.each([
  ['with a record that names its charge', 'ch_pay_rest', ['confirmed', 'confirmed'], []],
  [
    'and nobody knows by what',
    null,
    ['confirmed', 'parked'],
    ['If somebody marked the invoice by hand for this money'],
  ],
])('somebody marks the rest of a part on Stripe %s before its own money', async (_what, reference, marks, says) => {
  const h = await partApplied();
  h.platform.payAnotherWay(INVOICE_ID);
  if (reference !== null) {
    const record = { id: 'pr_hand', reference, minor: 600n, currency: 'EUR', paymentId: '', invoiceId: INVOICE_ID };
    h.platform.records.push({ ...record, refunds: [] });
    h.platform.payments.set(INVOICE_ID, [{ recordId: 'pr_hand', minor: 600n }]);
  }
  await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount: 600 }));
  await h.rest();
  const s = await h.state(INVOICE_ID);
  expect(s.payments.map((p) => p.mark)).toEqual(marks);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open.map((r) => wordsOf(r).proposal)).toEqual(says.map((text) => expect.stringMatching(`^${text}`)));
});

it('a third payment next to a part and its rest is a double payment', async () => {
  const h = await partApplied();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_rest', amount: 600 }));
  await h.rest();
  await h.take(aPaymentSucceeded({ paymentId: 'pay_third', amount: 600 }));
  await h.rest();
  const open = (await h.state(INVOICE_ID)).reviews.filter((r) => r.status === 'open');
  expect(open.map((r) => r.kind)).toEqual(['double_payment']);
});

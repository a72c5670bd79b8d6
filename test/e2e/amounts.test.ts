// An overpayment and a part payment, end to end.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, useWorld } from '../support/rigs/world.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  reviews,
  stripeSide,
  takenByMor,
  tellSucceeded,
  untilPayment,
  untilReviews,
  untilSide,
  resolve,
} from './support/story.js';

const eur = (amount: number): Json => ({ amount, currency: 'eur' });

// A surplus: one item, from whichever news comes first, and a person settles it.
describe.each([
  ['payment_record', '/v1/invoices/in_*/attach_payment'],
  ['out_of_band', '/v1/invoices/in_*/pay'],
])("a credit note between Crossbill's read and write, marked by %s", (mode, path) => {
  const world = useWorld({ BILLING_MARK_MODE: mode });
  beforeAll(async () => {
    await deafMor(world);
  });

  /** An invoice of 29.90 with a credit of 5.00 while the mark of 29.90 is on its way. */
  async function creditedMeanwhile(): Promise<{ invoiceId: string; paymentId: string }> {
    const s = await world.subscriber(); // another one each time: Stripe puts a surplus on the customer's next invoice
    await world.invoice(s.firstInvoiceId, 'paid');
    const invoiceId = await openRenewal(world, s);
    const paid = takenByMor(world, s, invoiceId, 2990);
    const slow = { side: 'stripe', method: 'POST', path, times: 1, action: { delay_ms: 2_000 } };
    await world.fault(slow);
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 2990 });
    await world.until(
      'the last call of the mark is on its way',
      async () => (await world.control('GET', '/faults')).body['data'] as Json[],
      (faults) => faults.some((f) => f['hits'] === 1),
    );
    await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 500, email_type: 'none' });
    await world.control('DELETE', '/faults');
    return { invoiceId, paymentId: paid.paymentId };
  }

  it('Crossbill opens one review item about an overpaid invoice, however many Stripe events report the overpayment', async () => {
    const { invoiceId, paymentId } = await creditedMeanwhile();
    await world.invoice(invoiceId, 'paid');
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    expect(item).toMatchObject({
      fact: { code: 'overpaid', over: eur(500), due: eur(2490), by: [{ payment: paymentId, amount: eur(2990) }] },
      proposed: 'refund',
    });
    const invoice = (await world.control('GET', `/stripe/state?invoice=${invoiceId}`)).body['invoices'] as Json[];
    for (const type of ['invoice.overpaid', 'invoice.updated', 'invoice.paid'])
      await world.control('POST', '/stripe/events', { type, data: invoice[0] });
    await world.shows('/v1/events?status=received', (r) => (r['data'] as Json[]).length === 0);
    expect(await reviews(world, invoiceId)).toHaveLength(1);
  });

  it('Crossbill refunds exactly the surplus when the operator accepts the proposed refund of an overpayment', async () => {
    const { invoiceId, paymentId } = await creditedMeanwhile();
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    const chosen = { resolution: 'refund', note: 'given back' };
    const resolved = await world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, chosen);
    expect(resolved.status).toBe(200);
    const payment = await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 500);
    expect(payment['status']).toBe('partially_refunded');
    expect(await reviews(world, invoiceId)).toEqual([]);
    // The sale is 24.90 before and after: the surplus lowers it no further.
    await world.shows(`/v1/payments/${paymentId}`, (r) =>
      ['done', 'not_needed'].includes(String((r['refunds'] as Json[])[0]?.['mirror'])),
    );
    const notes = await world.stripe.creditNotes.list({ invoice: invoiceId });
    expect(notes.data.map((n) => n.amount)).toEqual([500]);
    const records = (await world.control('GET', `/stripe/state?invoice=${invoiceId}`)).body[
      'payment_records'
    ] as Json[];
    const refunded = records.map((r) => (r['amount_refunded'] as Json)['value']);
    expect(refunded).toEqual(mode === 'payment_record' ? [500] : []);
  });
});

describe('A payment of another amount', () => {
  const world = useWorld();
  beforeAll(async () => {
    await deafMor(world);
  });

  it('an invoice stays open after the operator applies a partial payment, until another payment pays the remaining amount', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    const said = { customerId: s.customerId, invoiceId };

    await tellSucceeded(world, newPaid(), { ...said, amount: 1000 });
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    const applied = await resolve(world, item, 'apply', 'a part');
    expect(applied.status).toBe(200);
    await untilSide(world, invoiceId, (there) => there.attached.length === 1);
    expect((await stripeSide(world, invoiceId)).status).toBe('open');

    await tellSucceeded(world, newPaid(), { ...said, amount: 1990 });
    await world.invoice(invoiceId, 'paid');
    const there = await stripeSide(world, invoiceId);
    expect([there.status, there.attached.length, there.amountPaid]).toEqual(['paid', 2, 2990]);

    await tellSucceeded(world, newPaid(), { ...said, amount: 1990 });
    await untilReviews(world, invoiceId, ['double_payment']);
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(2);
  });
});

// What an invoice's credit notes can take, and money for an invoice that nobody had to pay, end to end.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cliJson } from '../cli/rig.js';
import { type Json, type Subscriber, useWorld } from '../support/rigs/world.js';
import {
  chargeByMor,
  deafMor,
  draftRenewal,
  openRenewal,
  refund,
  resolve,
  stripeSide,
  untilPayment,
  untilReviews,
  untilSide,
} from './support/story.js';

const eur = (amount: number): Json => ({ amount, currency: 'eur' });

describe.each(['payment_record', 'out_of_band'])('credit notes, marked by %s', (mode) => {
  const world = useWorld({ BILLING_MARK_MODE: mode });
  beforeAll(() => deafMor(world));

  const mirrored = (paymentId: string): Promise<Json> =>
    untilPayment(world, paymentId, (p) =>
      (p['refunds'] as Json[]).every((r) => ['done', 'not_needed'].includes(String(r['mirror']))),
    );
  const balance = (subscriber: Subscriber, amount: number): Promise<unknown> =>
    world.stripe.customers.createBalanceTransaction(subscriber.customerId, { amount, currency: 'eur' });
  const differences = async (invoiceId: string): Promise<unknown[]> => {
    const { body } = await cliJson<{ differences: Json[] }>(['verify'], world.env);
    return body.differences.filter((d) => d['invoice_id'] === invoiceId).map((d) => [d['kind'], d['review_id']]);
  };

  it('a full refund of an invoice with an older debt gets a credit note over the sale, and an item names the debt', async () => {
    const s = await world.paidSubscriber();
    await balance(s, 500);
    const invoiceId = await openRenewal(world, s);
    const { paymentId } = await chargeByMor(world, s, invoiceId, 3490);
    await world.invoice(invoiceId, 'paid');
    expect(await refund(world, paymentId, {})).toMatchObject({ status: 201, body: { amount: 3490 } });
    await mirrored(paymentId);
    expect((await stripeSide(world, invoiceId)).notes).toEqual([2990]);
    const [item] = await untilReviews(world, invoiceId, ['refund_gap']);
    expect(item).toMatchObject({
      actions: ['dismiss'],
      fact: { code: 'refund-beyond-sale', amount: eur(3490), beyond: eur(500), total: eur(2990), debt: eur(500) },
    });
    // An open item is a difference, and a person's word ends both.
    expect(await differences(invoiceId)).toEqual([['amount_differs', item?.['id']]]);
    expect((await resolve(world, item, 'dismiss', 'the debt is open again')).status).toBe(200);
    expect(await differences(invoiceId)).toEqual([]);
  });

  it('parts of a refund fill the sale first, and only the part beyond the sale is named', async () => {
    const s = await world.paidSubscriber();
    await balance(s, 500);
    const invoiceId = await openRenewal(world, s);
    const { paymentId } = await chargeByMor(world, s, invoiceId, 3490);
    await world.invoice(invoiceId, 'paid');
    for (const amount of [2000, 1200, 290]) await refund(world, paymentId, { amount });
    await mirrored(paymentId);
    expect((await stripeSide(world, invoiceId)).notes.toSorted((a, b) => b - a)).toEqual([2000, 990]);
    const items = await untilReviews(world, invoiceId, ['refund_gap', 'refund_gap']);
    const beyond = items.map((item) => (item['fact'] as { beyond: Json }).beyond['amount']);
    expect(beyond.toSorted()).toEqual([210, 290]);
  });

  it('a full refund after a credit note made by hand gets a credit note over the rest, and an item names the other part', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    const { paymentId } = await chargeByMor(world, s, invoiceId, 2990);
    await world.invoice(invoiceId, 'paid');
    const byHand = { invoice: invoiceId, amount: 700, credit_amount: 700, email_type: 'none' } as const;
    await world.stripe.creditNotes.create(byHand);
    await refund(world, paymentId, {});
    await mirrored(paymentId);
    expect((await stripeSide(world, invoiceId)).notes.toSorted((a, b) => a - b)).toEqual([700, 2290]);
    const [item] = await untilReviews(world, invoiceId, ['refund_gap']);
    expect(item).toMatchObject({ fact: { code: 'refund-beyond-sale', beyond: eur(700), debt: null } });
    expect(await differences(invoiceId)).toEqual([
      ['amount_differs', item?.['id']],
      ['credited_by_hand', undefined],
    ]);
  });

  it('a payment for an invoice credited in full is an item with the refund proposed, and the refund ends it', async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await openRenewal(world, s);
    await world.stripe.creditNotes.create({ invoice: invoiceId, amount: 2990, email_type: 'none' });
    const { paymentId } = await chargeByMor(world, s, invoiceId, 2990);
    const [item] = await untilReviews(world, invoiceId, ['double_payment']);
    expect(item).toMatchObject({
      proposed: 'refund',
      fact: { code: 'nothing-due', taken: eur(2990), why: 'credited' },
    });
    expect((await resolve(world, item, 'refund')).status).toBe(200);
    await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 2990);
    await untilReviews(world, invoiceId, []);
    expect((await stripeSide(world, invoiceId)).notes).toEqual([2990]);
  });

  it("a payment for an invoice that the customer's balance paid is an item with the refund proposed", async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await draftRenewal(world, s);
    await balance(s, -2990);
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: true });
    await untilSide(world, invoiceId, (side) => side.status === 'paid');
    await chargeByMor(world, s, invoiceId, 2990);
    const [item] = await untilReviews(world, invoiceId, ['double_payment']);
    expect(item).toMatchObject({ proposed: 'refund', fact: { code: 'nothing-due', why: 'balance' } });
    await resolve(world, item, 'refund');
    await untilReviews(world, invoiceId, []);
  });
});

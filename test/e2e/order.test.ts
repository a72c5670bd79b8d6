// Events in every order, late, early or about something else: the end is the same, and Crossbill never guesses about
// money.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { eventNamed } from '../support/rigs/channels.js';
import { type Json, type Subscriber, useWorld } from '../support/rigs/world.js';
import { deliver, eventStatus } from './support/endpoint.js';
import {
  deafMor,
  draftRenewal,
  newPaid,
  openRenewal,
  paymentObject,
  reviews,
  stripeSide,
  takenByMor,
  tell,
  tellSucceeded,
  untilPayment,
  untilReviews,
  untilSide,
  resolve,
  paidOnce,
  chargeByMor,
} from './support/story.js';

describe('events in any order', () => {
  const world = useWorld();
  let s: Subscriber;
  beforeAll(async () => {
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  const tellFailed = (type: string, invoiceId: string, paid = newPaid(), created?: number): Promise<string> =>
    tell(
      world,
      type,
      paymentObject(
        paid,
        type === 'payment.failed' ? 'failed' : 'requires_action',
        { customerId: s.customerId, invoiceId, amount: 1000 },
        { failure_message: 'Your card was declined.', decline_code: 'insufficient_funds' },
      ),
      undefined,
      created,
    );
  const said = (invoiceId: string, amount = 1000): { customerId: string; invoiceId: string; amount: number } => ({
    customerId: s.customerId,
    invoiceId,
    amount,
  });

  it.each(['payment.failed', 'payment.requires_action'])(
    'Crossbill leaves a renewal open after %s, and marks it paid after a later success',
    async (type) => {
      const invoiceId = await openRenewal(world, s);
      await eventStatus(world, 'mor_payments', await tellFailed(type, invoiceId));
      const open = await world.invoice(invoiceId, 'open'); // a verdict came
      expect(open['attempts']).toMatchObject([
        { decline_code: 'insufficient_funds', failure_message: 'Your card was declined.' },
      ]);
      expect((await stripeSide(world, invoiceId)).records).toEqual([]);
      await tellSucceeded(world, newPaid(), said(invoiceId));
      await paidOnce(world, invoiceId);
    },
  );

  it.each([
    ['of 255 characters', `pay_${'x'.repeat(251)}`],
    ['with a line break and letters unfit for a header', 'pay_支払い\n1'],
  ])('Crossbill marks the invoice paid for a payment with an id %s', async (_what, paymentId) => {
    const invoiceId = await openRenewal(world, s);
    await tellSucceeded(world, { ...newPaid(), paymentId }, said(invoiceId));
    await paidOnce(world, invoiceId);
  });

  it.each(['payment.failed', 'payment.requires_action'])(
    'an invoice stays paid when %s arrives after the success',
    async (type) => {
      const invoiceId = await openRenewal(world, s);
      const paid = newPaid();
      await tellSucceeded(world, paid, said(invoiceId));
      await paidOnce(world, invoiceId);
      const before = Math.floor(Date.now() / 1_000) - 60; // a refusal after the success is another story, for a person
      for (const about of [paid, newPaid()]) {
        const id = await tellFailed(type, invoiceId, about, before);
        expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
      }
      await paidOnce(world, invoiceId);
      expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body).toMatchObject({ status: 'succeeded' });
      expect(await reviews(world, invoiceId)).toEqual([]);
    },
  );

  it('when payment.succeeded arrives an hour before invoice.created, Crossbill marks the invoice paid once', async () => {
    await world.fault({
      target: 'deliveries',
      side: 'stripe',
      type: 'invoice.*',
      times: 9,
      action: { delay_ms: 3_600_000 },
    });
    const invoiceId = await openRenewal(world, s);
    await tellSucceeded(world, newPaid(), said(invoiceId));
    await paidOnce(world, invoiceId);
    await world.control('DELETE', '/faults');
    await world.advance(4_000);
    const events = await world.shows<{ timeline: Json[] }>(`/v1/invoices/${invoiceId}`, (r) =>
      r.timeline.some((l) => (l['detail'] as Json | undefined)?.['type'] === 'invoice.created'),
    );
    expect(events).toMatchObject({ status: 'paid' });
    await paidOnce(world, invoiceId);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('Crossbill keeps the payment of a draft, and marks the invoice paid when Stripe finalizes the draft', async () => {
    const invoiceId = await draftRenewal(world, s);
    const id = await tellSucceeded(world, newPaid(), said(invoiceId));
    await world.invoice(invoiceId, 'held');
    expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
    expect((await stripeSide(world, invoiceId)).records).toEqual([]);
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: false });
    await paidOnce(world, invoiceId);
  });

  it("when a draft's amount grows after its charge, a review item opens, and the operator may apply the smaller payment", async () => {
    const invoiceId = await draftRenewal(world, s);
    await tellSucceeded(world, newPaid(), said(invoiceId));
    await world.invoice(invoiceId, 'held');
    await world.control('POST', `/stripe/invoices/${invoiceId}/add`, { amount: 250 });
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: false });
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    expect((await stripeSide(world, invoiceId)).records).toEqual([]);
    await resolve(world, item, 'apply', 'the rest is billed next month');
    await untilSide(world, invoiceId, (side) => side.attached.length === 1);
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'open', amountPaid: 1000 });
  });

  it.each([
    ['amount_mismatch', 'a lower amount', { amount: 999 }],
    ['amount_mismatch', 'a higher amount', { amount: 1001 }],
    ['currency_mismatch', 'another currency', { currency: 'usd' }],
    ['customer_mismatch', 'another customer', { customerId: 'cus_of_someone_else' }],
  ])(
    'Crossbill opens a review item of kind %s for a payment of %s, and the operator refunds the payment',
    async (kind, _what, over) => {
      const invoiceId = await openRenewal(world, s);
      const amount = 'amount' in over ? (over.amount ?? 1000) : 1000;
      const currency = 'currency' in over ? (over.currency ?? 'eur') : 'eur';
      const paid = takenByMor(world, s, invoiceId, amount, currency);
      await tellSucceeded(world, paid, { ...said(invoiceId), ...over });
      const [item] = await untilReviews(world, invoiceId, [kind]);
      expect(item).toMatchObject({ payment_id: paid.paymentId, invoice_id: invoiceId });
      expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'open', records: [] });
      expect((await world.api('GET', `/v1/invoices/${invoiceId}`)).body['status']).toBe('review');
      await resolve(world, item, 'refund', 'not his');
      await untilPayment(world, paid.paymentId, (p) => p['status'] === 'refunded');
      // The right money is still welcome.
      await tellSucceeded(world, newPaid(), said(invoiceId));
      await paidOnce(world, invoiceId);
    },
  );

  it("the operator may apply a payment to the invoice although the MoR's event names another customer", async () => {
    const invoiceId = await openRenewal(world, s);
    await tellSucceeded(world, newPaid(), { ...said(invoiceId), customerId: 'cus_parent_company' });
    const [item] = await untilReviews(world, invoiceId, ['customer_mismatch']);
    await resolve(world, item, 'apply', 'the parent pays');
    await paidOnce(world, invoiceId);
  });

  it('Crossbill proposes a refund of a payment for a voided invoice, and marks an uncollectible invoice paid', async () => {
    const voided = await openRenewal(world, s);
    await world.stripe.invoices.voidInvoice(voided);
    const paid = await chargeByMor(world, s, voided, 1000);
    const [item] = await untilReviews(world, voided, ['invoice_not_payable']);
    expect(await stripeSide(world, voided)).toMatchObject({ status: 'void', records: [] });
    await resolve(world, item, 'refund', 'void');
    await untilPayment(world, paid.paymentId, (p) => p['status'] === 'refunded');

    const uncollectible = await openRenewal(world, s);
    await world.stripe.invoices.markUncollectible(uncollectible);
    await tellSucceeded(world, newPaid(), said(uncollectible));
    await paidOnce(world, uncollectible);
  });

  it('Crossbill opens a review item about a payment for a deleted or unknown invoice', async () => {
    const manual = await world.stripe.invoices.create({ customer: s.customerId, currency: 'eur' });
    const deleted = String(manual.id);
    await world.stripe.invoices.del(deleted);
    for (const invoiceId of [deleted, 'in_nobody_ever_made']) {
      await tellSucceeded(world, newPaid(), said(invoiceId));
      await untilReviews(world, invoiceId, ['invoice_not_payable']);
    }
  });

  it('Crossbill ignores an invoice with nothing due, and waits for no payment of this invoice', async () => {
    const invoiceId = await draftRenewal(world, s, 0);
    const [created] = (await world.stripe.events.list({ type: 'invoice.created', limit: 1 })).data;
    expect(await eventStatus(world, 'stripe', String(created?.id))).toBe('ignored');
    expect((await eventNamed(world, String(created?.id)))?.['reason']).toBe(
      'nothing is due yet: the final invoice decides',
    );
    const shown = await world.api('GET', `/v1/invoices/${invoiceId}`);
    expect(shown.body).toMatchObject({ status: 'ignored', expected_by: null });
  });

  it('Crossbill stores and ignores the events of a connected Stripe account and of live mode', async () => {
    const invoiceId = await openRenewal(world, s);
    const created = await world.stripe.events.list({ type: 'invoice.created', limit: 1 });
    const event = JSON.parse(JSON.stringify(created.data[0])) as Json;
    for (const [id, over] of [
      ['evt_connected', { account: 'acct_other' }],
      ['evt_live', { livemode: true }],
    ] as const) {
      expect((await deliver(world, 'stripe', JSON.stringify({ ...event, id, ...over }))).status).toBe(200);
      expect(await eventStatus(world, 'stripe', id)).toBe('ignored');
    }
    expect(await reviews(world, invoiceId)).toEqual([]);
  });
});

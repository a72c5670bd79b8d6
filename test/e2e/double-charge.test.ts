// The double charge, before it happens: Stripe finds a card for an invoice, and the MoR charges it too.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cli, cliJson } from '../cli/rig.js';
import { type Json, type Subscriber, useWorld } from '../support/rigs/world.js';
import { renewalOf, stranger } from './support/stranger.js';
import { deafMor, draftRenewal, newPaid, tellSucceeded, resolve } from './support/story.js';

type Check = { name: string; state: string; detail: string; todo: string };
type Charged = { subscription_id: string; customer_id: string; type: string; from: string };

describe('the guard against a double charge', () => {
  const world = useWorld({ ENROLMENT: 'linked' });
  beforeAll(() => deafMor(world)); // the test plays the MoR

  /** The customer saved a card, and the merchant's custom method is the subscription's default no longer. */
  const ownCard = async (subscriber: Subscriber): Promise<string> => {
    const card = await world.stripe.paymentMethods.attach('pm_card_visa', { customer: subscriber.customerId });
    await world.stripe.customers.update(subscriber.customerId, {
      invoice_settings: { default_payment_method: card.id },
    });
    await world.stripe.subscriptions.update(subscriber.subscriptionId, { default_payment_method: '' });
    return card.id;
  };
  const mend = async (subscriber: Subscriber): Promise<void> => {
    const method = await world.stripe.paymentMethods.create({ type: 'custom', custom: { type: 'cpmt_mor' } });
    await world.stripe.paymentMethods.attach(method.id, { customer: subscriber.customerId });
    await world.stripe.subscriptions.update(subscriber.subscriptionId, { default_payment_method: method.id });
  };
  const items = async (invoiceId: string, status = 'open'): Promise<readonly Json[]> => {
    const path = `/v1/reviews?status=${status}&kind=double_charge_risk&limit=100`;
    return (await world.list(path)).filter((r) => r['invoice_id'] === invoiceId);
  };
  const polls = async (text: { subscriptionId: string }): Promise<number> => {
    const { body } = await world.control('GET', `/requests?side=stripe&path=/v1/subscriptions/${text.subscriptionId}`);
    return (body['data'] as { method: string }[]).filter((r) => r.method === 'GET').length;
  };
  const isLookedAt = (invoiceId: string) =>
    world.until(
      'Crossbill knows what Stripe would charge',
      () => world.query('select 1 from invoice where invoice_id = $1 and charge_looked_at is not null', [invoiceId]),
      { length: 1 },
    );

  it('if both Stripe and the MoR would charge an invoice, a review item warns while the invoice is a draft, with fix and deadline', async () => {
    const s = await world.paidSubscriber({ email: 'eve@example.com' });
    const card = await ownCard(s);
    const invoiceId = await draftRenewal(world, s);
    const [item] = await world.until('the item is open, long before the end of the draft', () => items(invoiceId), {
      length: 1,
    });
    expect(item).toMatchObject({
      fact: {
        code: 'stripe-would-charge',
        customer: s.customerId,
        subscription: s.subscriptionId,
        method: card,
      },
    });
    const draft = await world.stripe.invoices.retrieve(invoiceId);
    expect(draft.status).toBe('draft');
    expect(new Date(String(item?.['due_at'])).getTime()).toBe((draft.automatically_finalizes_at ?? 0) * 1_000);
    // The MoR has charged; the merchant mends it and asks for another look: Stripe never charges, and Crossbill makes
    // the mark.
    await mend(s);
    const resolved = await resolve(world, item, 'retry', 'mended');
    expect(resolved.status).toBe(200);
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 2990 });
    await world.invoice(invoiceId, 'held');
    await world.advance(3_700);
    expect(await world.invoice(invoiceId, 'paid')).toMatchObject({ amount_paid: 2990 });
    expect(await items(invoiceId)).toEqual([]);
    const { body } = await world.control('GET', `/stripe/state?invoice=${invoiceId}`);
    const [shown] = body['invoices'] as { payments: { data: { payment: Json; status: string }[] } }[];
    expect(shown?.payments.data.filter((p) => p.status === 'paid').map((p) => p.payment['type'])).toEqual([
      'payment_record',
    ]);
  });

  it("Crossbill closes the review item about a double charge after somebody stops Stripe's collection of the invoice", async () => {
    const s = await world.paidSubscriber({ email: 'stopped@example.com' });
    await ownCard(s);
    const invoiceId = await draftRenewal(world, s);
    await world.until('the item is open', () => items(invoiceId), { length: 1 });
    await world.stripe.invoices.update(invoiceId, { auto_advance: false });
    const [closed] = await world.until('the item is closed', () => items(invoiceId, 'resolved'), { length: 1 });
    expect(closed).toMatchObject({ resolution: 'cleared' });
  });

  it('for two ordinary renewals Crossbill reads the subscription at Stripe once and opens no review item', async () => {
    const s = await world.paidSubscriber({ email: 'ada@example.com' });
    const invoiceId = await draftRenewal(world, s);
    await isLookedAt(invoiceId);
    expect(await polls(s)).toBe(1);
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: true });
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 2990 });
    await world.invoice(invoiceId, 'paid');
    const next = await draftRenewal(world, s);
    await isLookedAt(next);
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId: next, amount: 2990 });
    await world.invoice(next, 'held');
    expect(await polls(s)).toBe(1);
    expect([...(await items(invoiceId)), ...(await items(next))]).toEqual([]);
  });

  it('Crossbill reads no subscription and opens no review item for a customer outside the enrolment', async () => {
    const s = await stranger(world, { card: true });
    const invoiceId = await renewalOf(world, s);
    await world.invoice(invoiceId, 'ignored');
    expect([await items(invoiceId), await polls(s)]).toEqual([[], 0]);
  });

  it('Crossbill marks an invoice paid although its Stripe key may not read subscriptions', async () => {
    const s = await world.paidSubscriber({ email: 'noright@example.com' });
    const fault = { side: 'stripe', method: 'GET', path: `/v1/subscriptions/${s.subscriptionId}`, action: 'status' };
    await world.fault({ ...fault, status: 403, times: 100 });
    const invoiceId = await draftRenewal(world, s);
    await isLookedAt(invoiceId);
    await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: true });
    await tellSucceeded(world, newPaid(), { customerId: s.customerId, invoiceId, amount: 2990 });
    const invoice = await world.invoice(invoiceId, 'paid');
    await world.control('DELETE', '/faults');
    const notified = (invoice['timeline'] as { text: string }[]).filter((l) =>
      l.text.includes('could not read what Stripe would charge'),
    );
    expect(notified).toHaveLength(1);
  });

  it('`crossbill doctor --all` checks every enrolled subscription, and lists each subscription Stripe would charge', async () => {
    const s = await world.paidSubscriber({ email: 'late@example.com' });
    await ownCard(s);
    const foreign = await stranger(world, { card: true });
    const ran = await cliJson<{ checks: Check[]; charged: Charged[] }>(['doctor', '--all'], world.env);
    expect(ran.code).toBe(1);
    const mine = ran.body.charged.filter((c) => c.subscription_id === s.subscriptionId);
    expect(mine).toMatchObject([{ customer_id: s.customerId, type: 'card', from: 'customer' }]);
    expect(ran.body.charged.some((c) => c.subscription_id === foreign.subscriptionId)).toBe(false);
    const check = ran.body.checks.find((c) => c.name === 'subscriptions that Stripe would charge as well');
    expect(check).toMatchObject({ state: 'fail', detail: expect.stringContaining('enrolled subscriptions') });
    expect(check?.detail).toContain(`${s.subscriptionId} of ${s.customerId}`);
    const text = await cli(['doctor', '--all'], world.env);
    expect(text.err).toMatch(/looked at subscriptions \[#+\.*\] \d+ % \(\d+ of \d+\)/);
    // It keeps its result: the next renewal of a sound subscription needs no look.
    const ada = await world.paidSubscriber({ email: 'kept@example.com' });
    await cli(['doctor', '--all'], world.env);
    const before = await polls(ada);
    const invoiceId = await draftRenewal(world, ada);
    await isLookedAt(invoiceId);
    await tellSucceeded(world, newPaid(), { customerId: ada.customerId, invoiceId, amount: 2990 });
    await world.invoice(invoiceId, 'held');
    expect(await polls(ada)).toBe(before);
  });

  it('`crossbill doctor` explains why a successful read at Stripe proves no right to write', async () => {
    const ran = await cliJson<{ checks: Check[] }>(['doctor'], world.env);
    expect(ran.body.checks.find((c) => c.name === 'mark mode')?.detail).toContain('the first mark proves it');
  });
});

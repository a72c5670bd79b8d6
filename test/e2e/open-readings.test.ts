// The MoR and Stripe in the readings their documents leave open: another amount, a repeated charge, tax on top, and
// senders that disable a failing webhook endpoint.
import { beforeEach, describe, expect, it } from '@jest/globals';
import { cliJson } from '../cli/rig.js';
import { type Json, useWorld } from '../support/rigs/world.js';
import { requestsOf, reviews, stripeSide, untilReviews } from './support/story.js';

const HOUR = 3_600;
const eur = (amount: number): Json => ({ amount, currency: 'eur' });

describe('a MoR that charges otherwise', () => {
  const world = useWorld({}, async (w) => {
    const relay = {
      MOR_RELAY_URL: `${w.sandbox.morUrl}/relay/stripe`,
      MOR_RELAY_SECRET: w.sandbox.secrets.relaySecret,
    };
    await w.startDaemon(relay);
  });
  const choose = (facts: Json) => world.control('POST', '/mor/open-facts', facts);
  beforeEach(() => choose({ charged_amount: 'event', repeats: 'once', renewal_tax: 'none', charges_at: 'created' }));

  const add = (invoiceId: string, amount: number) =>
    world.control('POST', `/stripe/invoices/${invoiceId}/add`, { amount });
  const charges = async (invoiceId: string): Promise<Json[]> =>
    (await world.control('GET', `/mor/payments?invoice=${invoiceId}`)).body['data'] as Json[];

  it('tax on top of a renewal opens an item with both sums, and leaves the invoice open', async () => {
    await choose({ renewal_tax: 'added' });
    const s = await world.paidSubscriber();
    const invoiceId = await world.renew(s.subscriptionId);
    await world.advance(HOUR + 100);
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    expect(item?.['fact']).toMatchObject({ due: eur(2990), taken: eur(3558) });
    expect((await stripeSide(world, invoiceId)).status).toBe('open');
  });

  it("a charge of the event's amount for a draft that grew opens an item, and leaves the invoice open", async () => {
    const s = await world.paidSubscriber();
    const invoiceId = await world.renew(s.subscriptionId);
    await add(invoiceId, 1210);
    await world.advance(HOUR + 100);
    const [item] = await untilReviews(world, invoiceId, ['amount_mismatch']);
    expect(item?.['fact']).toMatchObject({ due: eur(4200), taken: eur(2990) });
    expect((await stripeSide(world, invoiceId)).status).toBe('open');
  });

  it("a MoR that charges the invoice's present amount pays a draft that grew in full, and no item opens", async () => {
    await choose({ charged_amount: 'present' });
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: ['decline', 'succeed'] });
    const invoiceId = await world.renew(s.subscriptionId);
    await add(invoiceId, 1210);
    await world.advance(HOUR + 100);
    await world.control('POST', '/mor/retry', { invoice_id: invoiceId });
    await world.morActs();
    await world.invoice(invoiceId, 'paid');
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'paid', amountPaid: 4200 });
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('a MoR that charges at finalization pays a metered renewal whose draft began with 0', async () => {
    await choose({ charges_at: 'finalized' });
    const s = await world.paidSubscriber();
    const renewed = await world.control('POST', '/stripe/renew', { subscription: s.subscriptionId, amount: 0 });
    const invoiceId = String(renewed.body['id']);
    await add(invoiceId, 4200);
    await world.advance(HOUR + 100);
    await world.morActs();
    await world.invoice(invoiceId, 'paid');
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'paid', amountPaid: 4200 });
  });

  it('an event that both Stripe and the relay bring, charged twice by the MoR, is one mark and one double_payment item', async () => {
    await choose({ repeats: 'per_delivery' });
    const s = await world.paidSubscriber();
    const relays = () => requestsOf(world, 'side=mor&path=/relay/stripe');
    const before = (await relays()).length; // of the other tests
    // The MoR acts only after the relay: a verdict before it would make the relay needless, and Crossbill withdraw it.
    const renewed = await world.control('POST', '/stripe/renew', { subscription: s.subscriptionId });
    const invoiceId = String(renewed.body['id']);
    await world.until('the relay of this invoice', relays, (r) => r.length > before);
    await world.morActs();
    await world.until('both charges', () => charges(invoiceId), { length: 2 });
    await world.advance(HOUR + 100);
    const [item] = await untilReviews(world, invoiceId, ['double_payment']);
    expect(item?.['proposed']).toBe('refund');
    await world.invoice(invoiceId, 'paid');
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });

  it('Crossbill relays no second event about an invoice; if the MoR hears it anyway and charges again, an item opens', async () => {
    await choose({ repeats: 'per_event' });
    const s = await world.paidSubscriber();
    const invoiceId = await world.renew(s.subscriptionId);
    await world.advance(HOUR + 100);
    await world.invoice(invoiceId, 'paid');
    const relays = async () => (await requestsOf(world, 'side=mor&path=/relay/stripe')).length;
    const before = await relays();
    const shown = (await world.control('GET', `/stripe/state?invoice=${invoiceId}`)).body['invoices'] as Json[];
    await world.control('POST', '/stripe/events', { type: 'invoice.created', data: shown[0] });
    await world.morActs();
    await untilReviews(world, invoiceId, ['double_payment']);
    expect(await charges(invoiceId)).toHaveLength(2);
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
    expect(await relays()).toBe(before);
  });
});

describe('a sender that disables a failing endpoint', () => {
  const world = useWorld();
  const fail = (side: string, type: string) =>
    world.fault({ target: 'deliveries', side, type, action: 'fail', times: 1_000 });
  const healed = () => world.control('DELETE', '/faults');
  const check = async (name: string): Promise<Json | undefined> => {
    const { body } = await cliJson<{ checks: Json[] }>(['doctor'], world.env);
    return body.checks.find((c) => c['name'] === name);
  };

  it('an endpoint that Stripe disabled fails `crossbill doctor`; once enabled, `crossbill backfill` fetches what was missed', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/endpoints', { disable_after_hours: 2, sender: 'stripe' });
    await fail('stripe', '*');
    const invoiceId = String(
      (await world.control('POST', '/stripe/renew', { subscription: s.subscriptionId })).body['id'],
    );
    await world.advance(73 * HOUR); // the endpoint never answered, so Stripe finalizes the draft only after 72 hours
    await healed();
    expect(await check('webhook endpoint at Stripe')).toMatchObject({ state: 'fail' });
    for (const { id } of (await world.stripe.webhookEndpoints.list()).data)
      await world.stripe.webhookEndpoints.update(id, { disabled: false });
    expect(await check('webhook endpoint at Stripe')).toMatchObject({ state: 'ok' });
    const since = new Date(Date.now() - 3 * 24 * HOUR * 1_000).toISOString();
    expect((await cliJson(['backfill', '--since', since, '--yes'], world.env)).code).toBe(0);
    await world.invoice(invoiceId, 'paid');
  });

  it("an endpoint of the MoR's events that the MoR disabled fails `crossbill doctor`, and the list of webhooks names its status", async () => {
    const url = `${world.daemons[0]?.url ?? ''}/webhooks/mor/events`;
    const made = await world.api('POST', '/v1/mor/webhooks', { url, events: ['dispute.action_needed'] });
    expect(made.status).toBe(201);
    await world.control('POST', '/endpoints', { disable_after_hours: 2, sender: 'mor_events' });
    await world.control('POST', '/events', { type: 'dispute.action_needed', data: {} }); // a secret nobody set: 503
    await world.advance(10 * HOUR);
    const listed = await world.list('/v1/mor/webhooks');
    expect(listed.find((e) => e['id'] === made.body['id'])).toMatchObject({ status: 'DISABLED' });
    expect(await check('webhook endpoint at the MoR')).toMatchObject({ state: 'fail' });
  });

  it('after the MoR disabled the endpoint of payment events, the events it sends again mark each invoice once', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/endpoints', { disable_after_hours: 2, sender: 'mor_payments' });
    await fail('mor', 'payment.*');
    const invoiceId = await world.renew(s.subscriptionId);
    await world.advance(10 * HOUR);
    await healed();
    const disabled = (await world.control('GET', '/endpoints')).body['disabled'] as Json[];
    expect(disabled.some((e) => e['sender'] === 'mor_payments')).toBe(true);
    await world.shows(
      `/v1/invoices/${invoiceId}`,
      (i) => i['stripe_status'] === 'open' && (i['payments'] as Json[]).length === 0,
    );
    await world.control('POST', '/payment-webhook', { url: `${world.daemons[0]?.url ?? ''}/webhooks/mor/payments` });
    await world.control('POST', '/mor/payment-events/again', { since_sec: 0 });
    await world.invoice(invoiceId, 'paid');
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });
});

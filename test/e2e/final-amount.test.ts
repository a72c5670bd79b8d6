// Drafts that grow: with MOR_RELAY_EVENTS=finalized the MoR charges the final amount; without it, a person decides.
import { beforeAll, describe, expect, it } from '@jest/globals';
import pg from 'pg';
import { cli } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import {
  type Json,
  OPS_KEY,
  type Reply,
  type Subscriber,
  type World,
  refusal,
  useWorld,
} from '../support/rigs/world.js';
import { deafMor, draftRenewal, paidOnce, requestsOf, reviews } from './support/story.js';

const HOUR_SEC = 3_700;
const relayTo = (world: World, events: string): Record<string, string> => ({
  MOR_RELAY_URL: `${world.sandbox.morUrl}/relay/stripe`,
  MOR_RELAY_SECRET: world.sandbox.secrets.relaySecret,
  MOR_RELAY_EVENTS: events,
});
const startWith = (events: string) => async (world: World) => {
  await world.startDaemon(relayTo(world, events));
  await deafMor(world);
};

/** The events that the MoR got about an invoice. */
async function relayed(world: World, invoiceId: string): Promise<Json[]> {
  const sent = (await requestsOf(world, 'side=mor')).filter((r) => r['path'] === '/relay/stripe');
  return sent.map((r) => r['body'] as Json).filter((e) => JSON.stringify(e).includes(invoiceId));
}
const ids = (events: readonly Json[]): unknown[] => events.map((e) => e['id']);
const dueIn = (json: Json | undefined): unknown => ((json?.['data'] as Json)['object'] as Json)['amount_due'];
const grow = (world: World, invoiceId: string, amount: number): Promise<Reply> =>
  world.control('POST', `/stripe/invoices/${invoiceId}/add`, { amount, description: 'usage' });
const finalize = async (world: World): Promise<void> => {
  await world.advance(HOUR_SEC);
  await world.morActs();
};

/** Adds a metered price of 0.10 EUR to a paying customer, in a subscription of its own. */
async function metered(world: World, { customerId }: Subscriber): Promise<string> {
  const { stripe } = world;
  const product = await stripe.products.create({ name: 'Calls' });
  const price = await stripe.prices.create({
    ...{ product: product.id, currency: 'eur', unit_amount: 10 },
    recurring: { interval: 'month', usage_type: 'metered', meter: 'mtr_1' },
  });
  const items = [{ price: price.id }];
  return (await stripe.subscriptions.create({ customer: customerId, items })).id;
}

describe('with MOR_RELAY_EVENTS=finalized', () => {
  const world = useWorld({}, startWith('finalized'));
  let s: Subscriber;
  beforeAll(async () => {
    s = await world.paidSubscriber();
  });

  it("the MoR charges the final amount of a draft that grew, after one event under an id of Crossbill's own", async () => {
    const id = await draftRenewal(world, s);
    await grow(world, id, 1210);
    await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'expected' && i['expected_by'] === null);
    expect(await relayed(world, id)).toEqual([]);
    await finalize(world);
    expect(await world.invoice(id, 'paid')).toMatchObject({ amount_due: 4200, reviews: [] });
    const [event, ...more] = await relayed(world, id);
    expect([more, event?.['type'], dueIn(event)]).toEqual([[], 'invoice.created', 4200]);
    expect(String(event?.['id'])).toMatch(/^evt_crossbill_/);
    await paidOnce(world, id);
  });

  it('a metered renewal is a draft of 0, and the MoR charges its usage once the draft is final', async () => {
    const subscription = await metered(world, s);
    const renewed = await world.control('POST', '/stripe/renew', { subscription });
    const id = String(renewed.body['id']);
    await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'ignored' && i['amount_due'] === 0);
    await world.control('POST', '/stripe/usage', { subscription, quantity: 420 });
    await finalize(world);
    expect(await world.invoice(id, 'paid')).toMatchObject({ amount_due: 4200, reviews: [] });
    expect((await relayed(world, id)).map(dueIn)).toEqual([4200]);
  });

  it('a metered renewal without usage stays ignored, and the MoR gets no event', async () => {
    const subscription = await metered(world, s);
    const renewed = await world.control('POST', '/stripe/renew', { subscription });
    const id = String(renewed.body['id']);
    await world.shows(`/v1/invoices/${id}`, (i) => i['stripe_status'] === 'draft');
    await finalize(world);
    await world.shows(`/v1/invoices/${id}`, (i) => i['stripe_status'] === 'paid');
    expect(await relayed(world, id)).toEqual([]);
  });

  it.each(['subscription_threshold', 'subscription_update'])(
    'an invoice of the reason %s goes to the MoR once it is final, with its final amount',
    async (reason) => {
      const renewed = await world.control('POST', '/stripe/renew', {
        ...{ subscription: s.subscriptionId, amount: 5000, billing_reason: reason },
      });
      const id = String(renewed.body['id']);
      await grow(world, id, 250);
      await finalize(world);
      expect(await world.invoice(id, 'paid')).toMatchObject({ billing_reason: reason, amount_due: 5250, reviews: [] });
      expect((await relayed(world, id)).map(dueIn)).toEqual([5250]);
    },
  );

  it('a draft in a grace period of three days waits for no verdict, and the wait begins with the relay', async () => {
    await world.control('POST', '/stripe/grace-period', { hours: 72 });
    try {
      const id = await draftRenewal(world, s);
      await world.advance(71 * 3_600);
      expect(await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'expected')).toMatchObject({
        expected_by: null,
        reviews: [],
      });
      expect(await relayed(world, id)).toEqual([]);
      await world.advance(2 * 3_600);
      await world.until('the MoR got the event', () => relayed(world, id), { length: 1 });
      await world.morActs();
      await world.invoice(id, 'paid');
    } finally {
      await world.control('POST', '/stripe/grace-period', { hours: 1 });
    }
  });

  it('an invoice filled by hand after its creation goes to the MoR with its final amount', async () => {
    const { id } = await world.stripe.invoices.create({
      ...{ customer: s.customerId, currency: 'eur', auto_advance: true },
      collection_method: 'charge_automatically',
    });
    await world.stripe.invoiceItems.create({ customer: s.customerId, invoice: id, amount: 2200, currency: 'eur' });
    await finalize(world);
    expect(await world.invoice(id, 'paid')).toMatchObject({ billing_reason: 'manual', amount_due: 2200 });
    expect((await relayed(world, id)).map(dueIn)).toEqual([2200]);
  });

  it('the MoR gets no first invoice of a subscription, and one event id even if the relay fails for a while', async () => {
    expect(await relayed(world, s.firstInvoiceId)).toEqual([]);
    const id = await draftRenewal(world, s);
    await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'expected');
    await world.fault({ side: 'mor', path: '/relay/stripe', action: 'drop_before', times: 2 });
    await finalize(world);
    await world.invoice(id, 'paid');
    const events = await relayed(world, id);
    expect(events.length).toBeGreaterThan(1);
    expect(new Set(ids(events)).size).toBe(1);
  });

  it('if Stripe’s events of a renewal are lost, `crossbill backfill` brings the final invoice to the MoR', async () => {
    await world.fault({ target: 'deliveries', side: 'stripe', action: 'lose', times: 1_000 });
    const id = await draftRenewal(world, s);
    await grow(world, id, 1210);
    await world.stripe.invoices.finalizeInvoice(id); // by hand: without an answer Stripe itself would wait 72 hours
    await world.control('DELETE', '/faults');
    expect((await world.api('GET', `/v1/invoices/${id}`)).status).toBe(404);
    const env = { ...world.env, ...relayTo(world, 'finalized') };
    expect((await cli(['backfill', '--since', '2d', '--yes'], env)).code).toBe(0);
    await world.until('the MoR got the event', () => relayed(world, id), { length: 1 });
    await world.morActs();
    expect(await world.invoice(id, 'paid')).toMatchObject({ amount_due: 4200 });
  });
});

describe('with MOR_RELAY_EVENTS=created', () => {
  const world = useWorld({}, startWith('created'));
  let s: Subscriber;
  beforeAll(async () => {
    s = await world.paidSubscriber();
  });

  it('a charge of the draft’s amount on an invoice that grew counts in part, and a payment link collects exactly the rest', async () => {
    const id = await draftRenewal(world, s);
    await world.until('the MoR got the event', () => relayed(world, id), { length: 1 });
    await grow(world, id, 1210);
    await finalize(world);
    const [item = {}] = await world.until(
      'the item is open',
      () => reviews(world, id),
      (all) => all.some((r) => (r['fact'] as Json)['code'] === 'amount-grew'),
    );
    const eur = (amount: number) => ({ amount, currency: 'eur' });
    expect(item).toMatchObject({
      ...{ kind: 'amount_mismatch', proposed: 'apply' },
      fact: { drafted: eur(2990), due: eur(4200), taken: eur(2990) },
    });
    const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    expect(await world.api('POST', `/v1/invoices/${id}/payment-link`, link)).toMatchObject(
      refusal(409, 'invoice_not_payable'),
    );
    const resolve = { resolution: 'apply', note: 'usage was added' };
    expect((await world.api('POST', `/v1/reviews/${String(item['id'])}/resolve`, resolve)).status).toBe(200);
    await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'open' && i['amount_remaining'] === 1210);
    const made = await world.api('POST', `/v1/invoices/${id}/payment-link`, link);
    expect(made).toMatchObject({ status: 201, body: { pricedAmount: { amount: '12.10', currency: 'EUR' } } });
    await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
    expect(await world.invoice(id, 'paid')).toMatchObject({ amount_paid: 4200 });
  });

  it('a metered renewal relayed as 0 is never charged; once it is overdue a person retries it, and the MoR gets one event', async () => {
    const subscription = await metered(world, s);
    const renewed = await world.control('POST', '/stripe/renew', { subscription });
    const id = String(renewed.body['id']);
    await world.until('the MoR got the draft', () => relayed(world, id), { length: 1 });
    await world.control('POST', '/stripe/usage', { subscription, quantity: 420 });
    await finalize(world);
    await world.shows(`/v1/invoices/${id}`, (i) => i['status'] === 'expected' && i['amount_due'] === 4200);
    const retry = (key: string) => world.api('POST', `/v1/invoices/${id}/retry`, undefined, { 'idempotency-key': key });
    expect(await retry('early')).toMatchObject(refusal(409, 'invoice_not_retryable'));
    const env = { ...world.env, ...relayTo(world, 'created') };
    expect((await cli(['retry', id, '--yes'], env)).code).toBe(1);

    const db = new pg.Pool({ connectionString: world.databaseUrl });
    const past = new Date(Date.now() - 60_000);
    const overdue = { expectedBy: past, paysByDebit: false };
    await changeByHand(db, id, (lane) => ({ ...lane, invoice: lane.invoice && { ...lane.invoice, ...overdue } }));
    await db.end();
    const [item = {}] = await world.until('it is overdue', () => reviews(world, id), { length: 1 });
    expect(item).toMatchObject({ kind: 'renewal_overdue', fact: { code: 'no-verdict', charges: true } });
    expect(item['actions']).toContain('retry');

    const page = await new Visitor(world.daemons[0]?.url ?? '').login(OPS_KEY);
    expect((await page.get(`/console/invoices/${id}`)).text).toContain(`/console/invoices/${id}/retry`);
    const [byApi, byCli] = await Promise.all([retry('one'), cli(['retry', id, '--yes'], env)]);
    expect([byApi.status === 202, byCli.code === 0].filter(Boolean)).toHaveLength(1);
    expect([202, 409]).toContain(byApi.status);
    await world.until('the MoR got the event', () => relayed(world, id), { length: 2 });
    await world.morActs();
    expect(await world.invoice(id, 'paid')).toMatchObject({ amount_paid: 4200 });
    expect((await relayed(world, id)).map(dueIn)).toEqual([0, 4200]);
  });
});

describe('with MOR_RELAY_EVENTS=retries', () => {
  const world = useWorld({}, (started) => started.startDaemon(relayTo(started, 'retries')));

  it('the MoR charges by its own endpoint at Stripe, and Crossbill relays a retry alone', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const id = await world.renew(s.subscriptionId);
    await world.invoice(id, 'open');
    expect(await relayed(world, id)).toEqual([]);
    await world.advance(HOUR_SEC);
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'succeed' });
    expect((await world.api('POST', `/v1/invoices/${id}/retry`)).status).toBe(202);
    await world.until('the MoR got the retry', () => relayed(world, id), { length: 1 });
    await world.morActs();
    await world.invoice(id, 'paid');
  });
});

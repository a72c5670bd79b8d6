// An event many times, events from real reports, a lost answer to COMMIT and words no document has, end to end.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { openInvoice } from '../support/rigs/channels.js';
import { company } from '../support/builders/company.js';
import { reported } from '../support/builders/reported.js';
import { type Json, type Subscriber, type World, startWorld, useWorld } from '../support/rigs/world.js';
import { deliver, eventStatus } from './support/endpoint.js';
import { allPaidOnce, renewAtOnce } from './support/load.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  paymentObject,
  refund,
  reviews,
  stripeSide,
  takenByMor,
  tellSucceeded,
  untilPayment,
  untilReviews,
  paidRenewal,
  paidOnce,
} from './support/story.js';
import { targetOf, TcpProxy } from '../../packages/proof/src/chaos/tcp-proxy.js';

// The same thing told twice, fifty times, under other names or by two daemons at once: every effect happens once.
describe('repeated deliveries and payments', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  let s: Subscriber;
  beforeAll(async () => {
    await world.startDaemon();
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  it('two daemons take fifty simultaneous deliveries as one event, and mark the invoice paid once', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    const body = JSON.stringify({
      id: 'evt_fifty',
      type: 'payment.succeeded',
      created: Math.floor(Date.now() / 1000),
      data: { object: paymentObject(paid, 'succeeded', said) },
    });
    const bases = world.daemons.map((d) => d.url);
    const sent = await Promise.all(
      Array.from({ length: 50 }, (_, i) => deliver(world, 'mor_payments', body, { base: bases[i % 2] ?? '' })),
    );
    expect(sent.map((x) => x.status)).toEqual(sent.map(() => 200));
    await world.invoice(invoiceId, 'paid');
    const events = await world.api<{ data: Json[] }>('GET', '/v1/events?event_id=evt_fifty');
    expect(events.body.data).toMatchObject([{ status: 'done' }]);
    const side = await stripeSide(world, invoiceId);
    expect(side).toMatchObject({ status: 'paid', amountPaid: 1000 });
    expect(side.records).toHaveLength(1);
    expect(side.attached).toEqual(side.records);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('when the MoR reports one payment under several event ids, Crossbill marks the invoice paid once', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    const first = await tellSucceeded(world, paid, said);
    await world.invoice(invoiceId, 'paid');
    const again = await Promise.all([1, 2, 3].map(() => tellSucceeded(world, paid, said)));
    for (const id of [first, ...again]) expect(await eventStatus(world, 'mor_payments', id)).toBe('done');
    await paidOnce(world, invoiceId);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it('when a second event reports another amount for a known payment, Crossbill opens a review item', async () => {
    const invoiceId = await openRenewal(world, s);
    const paid = newPaid();
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 1000 });
    await world.invoice(invoiceId, 'paid');
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId, amount: 2000 });
    await untilReviews(world, invoiceId, ['conflicting_event']);
    expect((await world.api('GET', `/v1/payments/${paid.paymentId}`)).body).toMatchObject({ amount: 1000 });
  });

  it('when the MoR reports one payment id for two invoices, Crossbill marks only the first invoice paid', async () => {
    const one = await openRenewal(world, s);
    const other = await openRenewal(world, s);
    const paid = newPaid();
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId: one, amount: 1000 });
    await world.invoice(one, 'paid');
    await tellSucceeded(world, paid, { customerId: s.customerId, invoiceId: other, amount: 1000 });
    await untilReviews(world, other, ['conflicting_event']);
    expect(await stripeSide(world, other)).toMatchObject({ status: 'open', records: [], attached: [] });
  });

  it('Crossbill stores evt_X, evt_issued_X and evt_issuance_failed_X as three events', async () => {
    for (const id of ['evt_X', 'evt_issued_X', 'evt_issuance_failed_X', 'EVT_X', 'evt_X ']) {
      const body = JSON.stringify({ id, type: 'report.available', created: 1_790_000_000, data: {} });
      expect((await deliver(world, 'mor_events', body)).status).toBe(200);
    }
    const page = await world.api<{ data: Json[] }>('GET', '/v1/events?type=report.available');
    expect(page.body.data.map((e) => e['event_id'])).toHaveLength(
      new Set(page.body.data.map((e) => e['event_id'])).size,
    );
    expect(page.body.data.length).toBeGreaterThanOrEqual(4);
  });

  it('when an invoice gets two payments, Crossbill marks it paid once, and a refund of the second closes the review item', async () => {
    const invoiceId = await openRenewal(world, s);
    const first = takenByMor(world, s, invoiceId, 1000);
    const second = takenByMor(world, s, invoiceId, 1000);
    const said = { customerId: s.customerId, invoiceId, amount: 1000 };
    await Promise.all([tellSucceeded(world, first, said), tellSucceeded(world, second, said)]);
    const [item] = await untilReviews(world, invoiceId, ['double_payment']);
    await paidOnce(world, invoiceId); // the second waits as soon as the first mark is under way
    expect(item).toMatchObject({ fact: { code: 'paid-twice', taken: { amount: 1000 } }, proposed: 'refund' });
    const extra = String(item?.['payment_id']);
    expect([first.paymentId, second.paymentId]).toContain(extra);

    const path = `/v1/reviews/${String(item?.['id'])}/resolve`;
    expect((await world.api('POST', path, { resolution: 'apply', note: 'no' })).status).toBe(409);
    const resolved = await world.api('POST', path, { resolution: 'refund', note: 'taken twice' });
    expect(resolved).toMatchObject({ status: 200, body: { status: 'resolved' } });
    await world.api('POST', path, { resolution: 'refund', note: 'taken twice' });
    await untilPayment(world, extra, (p) => p['status'] === 'refunded');
    const refunds = await world.control('GET', `/mor/refunds?payment=${extra}`);
    expect(refunds.body['data']).toMatchObject([{ amount: 1000, status: 'succeeded' }]);
    await untilReviews(world, invoiceId, []);
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'paid', notes: [], refundReferences: [] });
  });
});

// Events of Stripe from people's reports: two renderings of one event, the key's own account, numbers like card
// numbers, old shapes.
describe('reported events of Stripe', () => {
  const world = useWorld();

  const send = async (name: string, run: string, account = ''): Promise<void> => {
    const body = reported(name, run, Math.floor(Date.now() / 1000), account);
    expect((await deliver(world, 'stripe', body)).status).toBe(200);
  };
  const expected = (id: string): Promise<Json> => world.invoice(id, 'expected');

  it('Crossbill treats a Stripe event in two API versions as one event, and opens no review item', async () => {
    await send('01-rendering-new', '1');
    await send('01-rendering-old', '1');
    await expected('in_two1');
    const events = await world.api<{ data: Json[] }>('GET', '/v1/events?event_id=evt_two1');
    expect(events.body.data).toMatchObject([{ status: 'done' }]);
    expect(await world.list('/v1/reviews?status=open')).toEqual([]);
  });

  it("Crossbill accepts a Stripe event naming the merchant's own Stripe account, and ignores an event naming another account", async () => {
    const { id } = await world.stripe.accounts.retrieveCurrent();
    await send('02-own-account', '1', id);
    await expected('in_own1');
    await send('02-own-account', '2', 'acct_another');
    expect(await eventStatus(world, 'stripe', 'evt_own2')).toBe('ignored');
  });

  it('Crossbill shows an invoice number unmasked even if the number looks like a card number', async () => {
    for (const [n, number] of [
      ['1', '2026-1125-00007'],
      ['2', 'INV-20261125-00007'],
      ['3', '4111-2026-0001-1118'],
    ] as const) {
      await send(`03-number-${n}`, 'x');
      expect(await expected(`in_num${n}x`)).toMatchObject({ number });
    }
  });

  it('Crossbill parks a Stripe event in an API version before 2018-11-08, and decides the event after Stripe sends a newer version', async () => {
    for (const [name, n] of [
      ['14-1-updated', '1'],
      ['14-2-closed', '2'],
      ['14-3-paid', '3'],
    ] as const) {
      await send(name, 'x');
      expect(await eventStatus(world, 'stripe', `evt_anc${n}x`)).toBe('parked');
    }
    const old = JSON.parse(reported('01-rendering-new', '2')) as Json;
    expect((await deliver(world, 'stripe', JSON.stringify({ ...old, api_version: '2017-06-05' }))).status).toBe(200);
    expect(await eventStatus(world, 'stripe', 'evt_two2')).toBe('parked');
    await send('01-rendering-new', '2');
    await expected('in_two2');
  });
});

// A connection cut between COMMIT and its answer: nobody knows whether it counted. Still nothing is lost or done twice.
describe('a commit with a lost answer', () => {
  const AT_ONCE = 8;

  let world: World;
  let proxy: TcpProxy;
  let subscribers: Subscriber[];

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    proxy = await TcpProxy.before([targetOf(world.databaseUrl)]);
    await world.startDaemon({ DATABASE_URL: proxy.through(world.databaseUrl) });
    subscribers = await Promise.all(Array.from({ length: 4 }, () => world.paidSubscriber({ amount: 1000 })));
  });
  afterAll(async () => {
    await world.close();
    await proxy.close();
  });

  /** The senders come again after a 503; in the end each payment has one record, attached once, and the books no second entry. */
  async function paidInTheEnd(invoices: readonly string[], losses: number): Promise<void> {
    await allPaidOnce(world, invoices, () => proxy.lost >= losses);
    for (const id of invoices) await world.invoice(id, 'paid');
    const sql = `select 1 from ledger_entry where reason = 'payment_marked' and invoice_id = any($1)`;
    expect(await world.query(sql, [invoices])).toHaveLength(invoices.length);
    expect(await world.query(`select kind from review where status = 'open'`)).toEqual([]);
  }

  it("when PostgreSQL's reply to storing an event is lost, the sender gets 503 and Crossbill stores the event once", async () => {
    proxy.loseReplies('store_events', 'SELECT ', 3); // the statement's name: its text travels once a connection
    await paidInTheEnd(await renewAtOnce(world, subscribers, AT_ONCE), 3);
    const { body } = await world.control('GET', '/deliveries');
    const statuses = (body['data'] as { status: number | null }[]).flatMap((d) => d.status ?? []); // null: under way
    expect(statuses).toContain(503);
    expect(statuses.filter((s) => s !== 200 && s !== 503)).toEqual([]);
  });

  it("when PostgreSQL's reply to storing a decision is lost, no call to Stripe has a second effect", async () => {
    proxy.loseReplies('step_', 'SELECT ', 3); // the statement's name begins so
    await paidInTheEnd(await renewAtOnce(world, subscribers, AT_ONCE), 3 + 3);
  });
});

// Unknown words of the MoR: kept, shown and not final; payment method types passed on; a merchant's own details.
describe('an answer of the MoR', () => {
  const WORD = 'UNDER_REVIEW';

  let world: World;
  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterEach(() => world.control('DELETE', '/faults'));
  afterAll(() => world.close());

  const say = (method: string, path: string, times = 1, status = WORD): Promise<unknown> =>
    world.fault({ side: 'mor', method, path, times, action: 'rewrite', set: { status } });

  it("after an undocumented refund status Crossbill reserves the amount, and reports the refund to Stripe only after the MoR's event", async () => {
    const s = await world.paidSubscriber({ amount: 1000 });
    const { invoiceId, paymentId: id } = await paidRenewal(world, s);
    await world.fault({ target: 'deliveries', type: 'payment.refunded', action: 'lose', times: 5 });
    await say('POST', '/api/payments/*/refund');
    const made = await refund(world, id, { amount: 400 });
    expect(made).toMatchObject({ status: 201, body: { status: WORD, mor_refund_id: expect.stringMatching(/^rfnd_/) } });
    expect((await refund(world, id, { amount: 601 })).status).toBe(400);
    expect(await world.list('/v1/refunds?status=pending')).toMatchObject([{ id: made.body['id'], status: WORD }]);
    const side = await stripeSide(world, invoiceId);
    expect([side.notes, side.refundReferences]).toEqual([[], []]);
    await world.control('DELETE', '/faults');
    await world.control('POST', '/mor/payment-events/again', { since_sec: 0 });
    await world.shows(
      `/v1/refunds/${String(made.body['id'])}`,
      (body) => body['status'] === 'succeeded' && body['mirror'] === 'done',
    );
  });

  it("Crossbill shows an undocumented payment link status, and marks the invoice paid after the link's payment", async () => {
    const id = await openInvoice(world);
    const path = `/v1/invoices/${id}/payment-link`;
    const body = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    await say('POST', '/api/payment-links');
    const made = await world.api('POST', path, body);
    expect(made).toMatchObject({ status: 201, body: { status: WORD } });
    expect((await world.api('POST', path, body)).body['id']).toBe(made.body['id']);
    await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
    await world.invoice(id, 'paid');
  });

  it('the API shows an undocumented status of a MoR webhook endpoint and of an onboarding application', async () => {
    const endpoint = { url: 'https://hooks.example/mor', events: ['payment.captured'] };
    await say('POST', '/api/webhooks');
    expect(await world.api('POST', '/v1/mor/webhooks', endpoint)).toMatchObject({
      status: 201,
      body: { status: WORD },
    });
    await say('GET', '/api/webhooks');
    expect(await world.list('/v1/mor/webhooks')).toMatchObject([{ status: WORD }]);

    const merchant = { merchantReference: 'fir', productCode: 'tor', company };
    expect((await world.api('POST', '/v1/onboarding/merchants', merchant)).status).toBe(201);
    await say('GET', '/partner/api/merchants/*/application', 1, 'on_hold');
    const read = () => world.api('GET', '/v1/onboarding/merchants/fir');
    expect(await read()).toMatchObject({ status: 200, body: { status: 'on_hold' } });
    expect((await read()).body).toMatchObject({ status: 'created' });
  });

  it('Crossbill passes an undocumented payment method type on to the MoR, and refuses a malformed type', async () => {
    const trial = { kind: 'trial', customer: { id: 'cus_wero' }, payment_method_types: ['wero'] };
    expect((await world.api('POST', '/v1/signups', trial)).status).toBe(400);
    await world.control('POST', '/mor/account', { payment_method_types: ['card', 'wero'] });
    expect((await world.api('POST', '/v1/signups', trial)).status).toBe(201);
    expect((await world.api('POST', '/v1/signups', { ...trial, payment_method_types: ['a b'] })).status).toBe(400);
  });

  it('the API shows the company, business description and stores of a merchant', async () => {
    const path = '/v1/onboarding/merchants/larch';
    await world.api('POST', '/v1/onboarding/merchants', { merchantReference: 'larch', productCode: 'tor', company });
    const business = { businessDescription: 'Plans for trees', storeUrls: ['https://larch.example'] };
    await world.api('PATCH', `${path}/business`, business);
    expect((await world.api('GET', path)).body).toMatchObject({
      company: { ...company },
      business_description: 'Plans for trees',
      store_urls: ['https://larch.example'],
    });
  });
});

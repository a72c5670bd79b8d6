// Reading over HTTP: invoices with their story, lists in pages, events with personal data masked, review items, the
// ledger.
import { expect, it } from '@jest/globals';
import { Inbox } from '../../src/shared/domain/ports/inbox.js';
import { type ApiApp, anInvoice, apiForAll } from './support/api-app.js';

let api: ApiApp;
apiForAll(async (started) => {
  api = started;
  for (let n = 1; n <= 5; n++) await api.paidRenewal(n);
  // Paid for 4999, and 3000 were due.
  api.stripe.invoices.set('in_odd', anInvoice('in_odd', 'cus_odd', 3000n));
  await api.deliver({
    id: 'evt_odd',
    type: 'payment.succeeded',
    created: 1_794_009_630,
    data: {
      object: {
        payment_id: 'pay_odd',
        merchant_invoice_id: 'in_odd',
        merchant_customer_id: 'cus_odd',
        processor_charge_id: 'ch_odd',
        processor_payment_intent_id: 'pi_odd',
        amount: 4999,
        currency: 'eur',
        status: 'succeeded',
      },
    },
  });
});

type Row = Record<string, unknown>;
const read = async (path: string) => (await api.call('GET', path, { role: 'read' })).json;
const list = async (path: string) => (await read(path))['data'] as Row[];

it('the API shows an invoice with its amount due, its payments and its timeline in order', async () => {
  const invoice = await read('/v1/invoices/in_1');
  expect(invoice).toMatchObject({
    id: 'in_1',
    customer_id: 'cus_1',
    status: 'paid',
    stripe_status: 'paid',
    amount_due: 4999,
    amount_paid: 4999,
    amount_remaining: 0,
    currency: 'eur',
    billing_reason: 'subscription_cycle',
    subscription_id: 'sub_1',
    refunds: [],
    reviews: [],
  });
  expect(invoice).not.toHaveProperty('mor_customer_id');
  expect(invoice['payments']).toEqual([
    expect.objectContaining({
      id: 'pay_1',
      amount: 4999,
      status: 'succeeded',
      mark: 'confirmed',
      payment_record_id: expect.stringMatching(/^pr_/),
    }),
  ]);
  expect(invoice['attempts']).toEqual([expect.objectContaining({ event_id: 'evt_1', outcome: 'succeeded' })]);
  const timeline = invoice['timeline'] as { at: string; kind: string; text: string }[];
  expect(timeline.map((l) => l.kind)).toEqual(expect.arrayContaining(['event', 'decision', 'call']));
  expect(timeline.map((l) => l.at)).toEqual(timeline.map((l) => l.at).sort());
});

it('the API lists an invoice with its payments and refunds, but without its timeline', async () => {
  const [newest] = await list('/v1/invoices?status=paid&limit=1');
  expect(newest).toMatchObject({ id: 'in_5', payments: [{ id: 'pay_5' }], refunds: [] });
  expect(newest).not.toHaveProperty('timeline');
});

it('the API lists payments newest first, shows each payment once, and sends no cursor with the last page', async () => {
  const seen: unknown[] = [];
  let path = '/v1/payments?limit=2';
  for (let pages = 0; pages < 5; pages++) {
    const page = await read(path);
    seen.push(...(page['data'] as Row[]).map((p) => p['id']));
    if (!('next_cursor' in page)) break;
    path = `/v1/payments?limit=2&cursor=${String(page['next_cursor'])}`;
  }
  expect(seen).toEqual(['pay_odd', 'pay_5', 'pay_4', 'pay_3', 'pay_2', 'pay_1']);
});

it('the API filters payments, invoices and events by invoice, customer, status, source and id', async () => {
  expect((await list('/v1/payments?invoice_id=in_3')).map((p) => p['id'])).toEqual(['pay_3']);
  expect((await list('/v1/payments?customer_id=cus_2')).map((p) => p['id'])).toEqual(['pay_2']);
  expect(await list('/v1/payments?status=failed')).toEqual([]);
  expect((await list('/v1/invoices?status=review')).map((i) => i['id'])).toEqual(['in_odd']);
  expect((await list('/v1/events?event_id=evt_4&source=mor_payments')).map((e) => e['status'])).toEqual(['done']);
  expect(await list('/v1/events?source=stripe')).toEqual([]);
  expect(await list("/v1/events?type=x'%20or%201=1--")).toEqual([]);
});

it('the API filters lists by time, currency, amount and customer, alone and together', async () => {
  const ids = async (path: string, id = 'id'): Promise<unknown[]> => (await list(path)).map((row) => row[id]);
  const taken = '2026-11-07'; // of all payments here
  expect(await ids(`/v1/payments?since=${taken}&until=2026-11-08&customer=cus_2`)).toEqual(['pay_2']);
  expect(await ids(`/v1/payments?until=${taken}`)).toEqual([]);
  expect(await ids(`/v1/payments?since=${taken}T23:59:59%2B02:00&limit=1`)).toEqual([]);
  expect(await ids('/v1/payments?amount=4999&currency=EUR&limit=2')).toEqual(['pay_odd', 'pay_5']);
  expect(await ids('/v1/payments?currency=jpy')).toEqual([]);
  expect(await ids('/v1/invoices?amount=3000&currency=eur')).toEqual(['in_odd']);
  expect(await ids('/v1/invoices?customer=cus_4&status=paid')).toEqual(['in_4']);
  expect(await ids('/v1/reviews?customer=cus_odd', 'invoice_id')).toEqual(['in_odd']);
  expect(await ids('/v1/reviews?customer=cus_1&order=due')).toEqual([]);
  expect(await ids('/v1/reviews?until=2026-01-01')).toEqual([]);
  expect(await ids('/v1/events?until=2026-01-01')).toEqual([]);
  expect((await ids('/v1/events?since=2026-01-01&source=mor_payments', 'event_id')).length).toBeGreaterThan(5);
  expect(await ids('/v1/ledger?customer=cus_3&reason=payment_marked', 'payment_id')).toEqual(['pay_3']);
  expect(await ids(`/v1/ledger?since=${taken}&until=2026-11-08&amount=4999&invoice_id=in_2`, 'reason')).toEqual(
    await ids('/v1/ledger?invoice_id=in_2', 'reason'),
  );
  expect(await ids('/v1/refunds')).toEqual([]);
});

it.each([
  ['/v1/payments?custmer=cus_1', 'custmer'],
  ['/v1/invoices?created=2026', 'created'],
  ['/v1/payments?since=2026-02-30', 'since'],
  ['/v1/payments?since=yesterday', 'since'],
  ['/v1/ledger?since=2026-11-01T08:00:00', 'since'],
  ['/v1/events?until=1e9', 'until'],
  ['/v1/refunds?since=2026-11-02&until=2026-11-01', 'until'],
  ['/v1/refunds?since=2026-11-01&until=2026-11-01', 'until'],
  ['/v1/payments?amount=29.90', 'amount'],
  ['/v1/payments?amount=0', 'amount'],
  ['/v1/payments?amount=99999999999999999', 'amount'],
  ['/v1/ledger?currency=euro', 'currency'],
  ['/v1/ledger?reason=gift', 'reason'],
  ['/v1/refunds?status=requested', 'status'],
  ['/v1/reviews?customer=a&customer=b', 'customer'],
  ['/v1/payments?customer=a&customer_id=b', 'customer_id'],
  ['/v1/invoices?limit=0', 'limit'],
  ['/v1/payments?cursor=12', 'cursor'],
  ['/v1/ledger?cursor=1.2', 'cursor'],
])('the API refuses the list request %s, and the error names the wrong field %s', async (path, field) => {
  const { status, json } = await api.call('GET', path, { role: 'read' });
  expect([status, json['code'], json['errors']]).toEqual([
    400,
    'invalid_request',
    [expect.objectContaining({ field, message: expect.any(String) })],
  ]);
});

it("the API's ledger names a payment by its MoR id and filters by invoice, payment and reason", async () => {
  const entries = await list('/v1/ledger?invoice_id=in_1');
  expect(entries.length).toBeGreaterThanOrEqual(2);
  for (const entry of entries)
    expect(entry).toMatchObject({ amount: 4999, currency: 'eur', invoice_id: 'in_1', payment_id: 'pay_1' });
  expect(await list('/v1/ledger?payment_id=pay_1')).toEqual(entries);
  const reason = String(entries[0]?.['reason']);
  expect((await list(`/v1/ledger?reason=${reason}&payment_id=pay_1`)).map((e) => e['id'])).toEqual([
    entries[0]?.['id'],
  ]);
});

it('the API masks personal data in the body of an event', async () => {
  const [event] = await list('/v1/events?event_id=evt_1');
  const one = await read(`/v1/events/${String(event?.['id'])}`);
  expect(one).toMatchObject({
    event_id: 'evt_1',
    type: 'payment.succeeded',
    status: 'done',
    decided_at: expect.any(String),
    lane: 'in_1',
  });
  expect(one['body']).toMatchObject({
    id: 'evt_1',
    data: { object: { payment_id: 'pay_1', customer_email: '[masked]' } },
  });
  expect(JSON.stringify(one)).not.toContain('ada@example.com');
});

it("at an operator's request Crossbill decides an event again, and adds no second payment to the invoice", async () => {
  const [event] = await list('/v1/events?event_id=evt_2');
  const path = `/v1/events/${String(event?.['id'])}/retry`;
  expect((await api.call('POST', path, { role: 'read' })).status).toBe(403);
  const retried = await api.call('POST', path);
  expect([retried.status, retried.json['status'], retried.json['id']]).toEqual([202, 'received', event?.['id']]);
  await api.work();
  expect(await read(`/v1/events/${String(event?.['id'])}`)).toMatchObject({ status: 'done' });
  expect(((await read('/v1/invoices/in_2'))['payments'] as Row[]).length).toBe(1);
  const trace = (await api.call('GET', '/v1/audit?action=event.retry')).json['data'] as Row[];
  expect(trace.map((r) => r['outcome'])).toEqual(['done', 'begun', 'denied']);
});

it("the API shows an event even if its body is not JSON, and an operator's retry releases a quarantined event", async () => {
  const delivery = {
    source: 'mor_events',
    eventId: 'evt_bytes',
    type: '',
    lane: 'mor_events:evt_bytes',
    body: Buffer.from('no json'),
    receivedAt: new Date(),
  } as const;
  await api.app.get(Inbox).store([{ ...delivery, status: 'parked', reason: 'not JSON' }]);
  await api.app
    .get(Inbox)
    .quarantine(
      { ...delivery, eventId: 'evt_stale', body: Buffer.from('{}'), status: 'received', reason: null },
      'stale',
    );
  const [parked] = await list('/v1/events?status=parked');
  expect(parked).toMatchObject({ event_id: 'evt_bytes', reason: 'not JSON' });
  expect(await read(`/v1/events/${String(parked?.['id'])}`)).toMatchObject({
    body: null,
    body_note: expect.stringContaining('7 bytes'),
  });
  const [stale] = await list('/v1/events?status=quarantined');
  expect(stale).toMatchObject({ id: expect.stringMatching(/^iq_/), event_id: 'evt_stale' });
  expect(stale).not.toHaveProperty('decided_at');
  const released = await api.call('POST', `/v1/events/${String(stale?.['id'])}/retry`);
  expect([released.status, released.json['id']]).toEqual([202, expect.stringMatching(/^ie_/)]);
  expect((await api.call('POST', '/v1/events/ie_99999/retry')).status).toBe(404);
});

it("the API shows a review item's payment and choices, settles the item by one choice, and refuses a second choice", async () => {
  const [item] = await list('/v1/reviews?status=open&kind=amount_mismatch');
  expect(item).toMatchObject({
    kind: 'amount_mismatch',
    status: 'open',
    invoice_id: 'in_odd',
    payment_id: 'pay_odd',
    summary: expect.any(String),
    proposal: expect.any(String),
    actions: ['apply', 'refund', 'retry', 'dismiss'],
    created_at: expect.any(String),
  });
  expect(item).not.toHaveProperty('refund_id');
  const path = `/v1/reviews/${String(item?.['id'])}`;
  expect(await read(path)).toEqual(item);
  const resolve = (body: object, role: 'ops' | 'signup' = 'ops') => api.call('POST', `${path}/resolve`, { role, body });
  expect((await resolve({ resolution: 'dismiss' }, 'signup')).status).toBe(403);
  expect((await resolve({ resolution: 'shrug' })).status).toBe(400);
  expect((await resolve({})).json['errors']).toEqual([expect.objectContaining({ field: 'resolution' })]);

  const [one, two] = await api.working(
    Promise.all([
      resolve({ resolution: 'refund', note: 'agreed with the customer' }),
      resolve({ resolution: 'refund' }),
    ]),
  );
  expect([one.status, two.status]).toEqual([200, 200]);
  await api.work();
  expect(await read(path)).toMatchObject({
    status: 'resolved',
    resolution: 'refund',
    resolved_by: 'ops-name',
    actions: [],
  });
  expect((await read('/v1/payments/pay_odd'))['refunds']).toEqual([
    expect.objectContaining({ amount: 4999, status: 'succeeded' }),
  ]);
  const again = await resolve({ resolution: 'apply' });
  expect([again.status, again.json['code']]).toEqual([409, 'review_already_resolved']);
  expect((await api.call('POST', '/v1/reviews/rev_none/resolve', { body: { resolution: 'dismiss' } })).status).toBe(
    404,
  );
});

// After `crossbill erase`, no table and no later log line holds a word of or about the customer: a canary stands in
// every text field that the API and the webhook endpoints take, and in every refusal of Stripe and the MoR.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cliJson } from '../cli/rig.js';
import { MOR_SERVICE_TYPES } from '../../src/core/mor-objects/event-rows.js';
import { stripeInvoiceTypes } from '../../src/shared/domain/events/stripe-event.js';
import { Canaries, inDatabase, ROUTES_WITH_BODY } from '../support/builders/canaries.js';
import { PROFORMA } from '../support/rigs/channels.js';
import { newSecret } from '../support/fakes/notify-receiver.js';
import { type Json, OPS_KEY, type Reply, type Subscriber, useWorld } from '../support/rigs/world.js';
import { Visitor } from '../console/visitor.js';
import { deliver, type EndpointName } from './support/endpoint.js';
import { chargeByMor, deafMor, newPaid, openRenewal, paidRenewal, paymentObject, resolve } from './support/story.js';

const PAYMENT_TYPES = ['payment.succeeded', 'payment.failed', 'payment.requires_action', 'payment.refunded'] as const;

/** These routes are about the merchant: its company, its catalogue, its endpoints at the MoR. */
const OF_MERCHANT = /onboarding|catalogue|mor\/webhooks/;

/** An event as its documents show it, with every text a sender may add. */
function eventOf(
  type: string,
  about: { readonly s: Subscriber; readonly invoiceId: string; readonly paid: Json },
): Json {
  const { s, invoiceId, paid } = about;
  const isStripe = type.startsWith('invoice.');
  const texts = {
    description: 'text',
    note: 'text',
    reviewerNote: 'text',
    reason: 'text',
    message: 'text',
    outcome: 'text',
    dashboardUrl: 'https://dashboard.example/1',
    metadata: { hint: 'text' },
    customer_details: { name: 'text', email: 'a@b.example', address: { line1: 'text', city: 'text' } },
    recipient: { legalName: 'text' },
    issuanceFailure: { code: 'text', message: 'text', failedAt: '2026-11-07T00:00:00Z' },
  };
  if (PAYMENT_TYPES.some((one) => one === type)) {
    const status = type === 'payment.refunded' ? 'partially_refunded' : type.slice('payment.'.length);
    const object = paymentObject(newPaid(), status, { customerId: s.customerId, invoiceId, amount: 2990 });
    const refund = {
      refund_id: `rfnd_${randomUUID()}`,
      processor_refund_id: `re_${randomUUID()}`,
      amount: 100,
      amount_refunded_total: 100,
    };
    const more = { failure_message: 'text', decline_code: 'text', ...(type === 'payment.refunded' ? refund : {}) };
    return { type, created: 1_794_009_630, data: { object: { ...object, ...texts, ...more } } };
  }
  if (isStripe) {
    const invoice = JSON.parse(readFileSync('test/wire/stripe/invoice.created.2020-03-02.json', 'utf8')) as Json;
    const { object } = invoice['data'] as { object: Json };
    const own = {
      id: invoiceId,
      customer: s.customerId,
      subscription: s.subscriptionId,
      status: 'draft',
      currency: 'eur',
    };
    const more = {
      customer_email: 'a@b.example',
      customer_name: 'text',
      customer_phone: 'text',
      customer_address: { line1: 'text', city: 'text', country: 'GB' },
      footer: 'text',
      hosted_invoice_url: 'https://pay.example/1',
      last_finalization_error: { message: 'text', code: 'text', param: 'text' },
      custom_fields: [{ name: 'text', value: 'text' }],
      collection_method: 'charge_automatically',
      default_payment_method: null,
    };
    return {
      type,
      object: 'event',
      created: 1_794_009_601,
      data: { object: { ...object, ...texts, ...more, ...own } },
    };
  }
  const data = {
    ...texts,
    ...paid,
    disputeId: 'dp_quill1',
    alertId: 'al_quill1',
    eInvoiceId: '11111111-2222-4333-8444-555555555551',
    proformaInvoiceId: '11111111-2222-4333-8444-555555555552',
    deadline: '2027-11-21T00:00:00Z',
    disputedAmount: { amount: 'thirty', currency: 'EUR' },
    status: 'SETTLED',
    settledAt: '2026-11-07T00:00:00Z',
    total: { amount: '29.90', currency: 'EUR' },
    amountReceived: { amount: '10.00', currency: 'EUR' },
  };
  return { type, created: '2026-11-07T00:00:30.000Z', data };
}

describe('the erasure of a customer', () => {
  const canaries = new Canaries();
  const world = useWorld({
    RENEWAL_ALARM_AFTER_HOURS: '1',
    RETRY_SCHEDULE: 'off',
    NOTIFY_URL: 'http://127.0.0.1:9/', // nobody answers: the notifications wait with their bytes
    NOTIFY_SECRETS: newSecret(1),
  });
  let s: Subscriber;
  let invoices: string[];
  const called = new Set<string>();

  const as = (route: string, ids: Readonly<Record<string, string>>, given: Json = {}): Promise<Reply> => {
    called.add(route);
    const [method = '', path = ''] = route.split(' ');
    const url = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(ids[name] ?? 'x'));
    const key = canaries.in(`${route} Idempotency-Key`).replace('ë', 'e'); // a header is ASCII
    return world.api(method, url, canaries.body(`${route}#`, given), { 'idempotency-key': key });
  };
  const refuse = (side: string, method: string, path: string, error: Json, status = 422): Promise<Reply> =>
    world.fault({ side, method, path, action: 'status', status, body: error });
  const morSays = (what: string): Json => ({
    code: 'refused_here',
    message: canaries.in(`the MoR's message about ${what}`),
    errors: [{ field: 'recipient.legalName', message: canaries.in(`the MoR's error about ${what}`) }],
  });
  const stripeSays = (what: string): Json => ({
    error: {
      type: 'invalid_request_error',
      code: 'refused_here',
      message: canaries.in(`Stripe's message about ${what}`),
    },
  });
  const send = async (endpoint: EndpointName, event: Json): Promise<void> => {
    const id = `evt_${randomUUID()}`;
    expect((await deliver(world, endpoint, JSON.stringify({ id, ...event }))).status).toBe(200);
  };
  const endpointOf = (type: string): EndpointName =>
    type.startsWith('invoice.') ? 'stripe' : PAYMENT_TYPES.some((one) => one === type) ? 'mor_payments' : 'mor_events';
  const quiet = async (): Promise<void> => {
    await world.until(
      'nothing is waiting',
      () =>
        world.query<{ n: string }>(
          `select (select count(*) from inbox_event where status = 'received') + (select count(*) from lane where due_at <= now()) as n`,
        ),
      ([row]) => Number(row?.n) === 0,
    );
  };

  beforeAll(async () => {
    s = await world.paidSubscriber({ email: 'ada@quill.example' });
    await world.stripe.customers.update(s.customerId, { name: 'Ada' });
    invoices = [];

    // The API: each route with a body, with words in each text of its schema.
    const signup = await as(
      'POST /v1/signups',
      {},
      {
        'customer.id': s.customerId,
        kind: 'trial',
        amount: undefined,
        currency: undefined,
        invoice_id: undefined,
        tax: undefined,
        tax_calculation_id: undefined,
        payment_method_types: ['card'],
      },
    );
    must(signup, 201);
    await as(
      'POST /v1/signups',
      {},
      { 'customer.id': s.customerId, kind: 'trial', amount: undefined, currency: undefined, invoice_id: undefined },
    );
    await as(
      'POST /v1/customers/{id}/payment-method',
      { id: s.customerId },
      { payment_method_types: ['card'], tax_calculation_id: undefined },
    );
    await as('POST /v1/signups/{id}/complete', { id: String(signup.body['id']) }, { amount: 2990, currency: 'eur' });
    const linked = await as('POST /v1/customers', {}, { customer_id: 'cus_quill', mor_customer_id: 'mc_quill' });
    must(linked, 201);

    // Renewals of the customer: one that is paid and refunded, one that a person returns, and open ones.
    const paid = await paidRenewal(world, s);
    invoices.push(paid.invoiceId);
    await refuse('mor', 'POST', '*refund*', morSays('a refund'));
    must(await as('POST /v1/payments/{id}/refunds', { id: paid.paymentId }, { amount: 100 }), 422);
    must(await as('POST /v1/payments/{id}/refunds', { id: paid.paymentId }, { amount: 200 }), 201);
    const debit = await paidRenewal(world, s);
    invoices.push(debit.invoiceId);
    expect(
      (await as('POST /v1/payments/{id}/returned', { id: debit.paymentId }, { returned_on: undefined })).status,
    ).toBe(201);
    await as('POST /v1/payments/{id}/identify', { id: debit.paymentId });

    await deafMor(world);
    const open = await openRenewal(world, s);
    invoices.push(open);
    await world.shows(`/v1/invoices/${open}`, (i) => i['stripe_status'] === 'open');
    await refuse('mor', 'POST', '*proforma*', morSays('a proforma invoice'));
    const proforma = {
      jurisdiction: 'GB',
      'recipient.taxIdentifiers': PROFORMA.recipient['taxIdentifiers'],
      tax_calculation_id: undefined,
      provider: undefined,
    };
    await as('POST /v1/invoices/{id}/proforma', { id: open }, proforma);
    await as('POST /v1/invoices/{id}/proforma', { id: open }, { ...proforma, notices: undefined });
    const other = await openRenewal(world, s);
    invoices.push(other);
    await world.shows(`/v1/invoices/${other}`, (i) => i['stripe_status'] === 'open');
    await refuse('mor', 'POST', '*payment-links*', morSays('a payment link'));
    await as('POST /v1/invoices/{id}/payment-link', { id: other });
    await as('POST /v1/invoices/{id}/payment-link', { id: other });

    // Stripe refuses a mark, in words.
    await refuse('stripe', 'POST', '/v1/payment_records/report_payment', stripeSays('a mark'), 400);
    const third = await openRenewal(world, s);
    invoices.push(third);
    await chargeByMor(world, s, third, 2990);
    await world.shows(`/v1/invoices/${third}`, (i) => i['status'] === 'review');

    // The webhook endpoints: each event with words in each text, and with words in each single field.
    const about = { s, invoiceId: open, paid: { paymentId: paid.paymentId } };
    for (const type of [...stripeInvoiceTypes, ...PAYMENT_TYPES, ...MOR_SERVICE_TYPES]) {
      const event = eventOf(type, about);
      await send(endpointOf(type), canaries.fill(event, `event ${type}`) as Json);
      const changed = oneByOne(eventOf(type, about), `event ${type}`, canaries);
      await Promise.all(changed.map((one) => send(endpointOf(type), one)));
    }
    await quiet();

    // A person writes a note for everything that waits for one.
    for (const { id } of await world.list<{ id: string }>('/v1/events?status=parked&limit=100'))
      must(await as('POST /v1/events/{id}/dismiss', { id }), 200);
    for (let round = 0; round < 3; round++) {
      for (const [n, item] of (await world.list('/v1/reviews?status=open&limit=100')).entries()) {
        called.add('POST /v1/reviews/{id}/resolve');
        const note = canaries.in(`note of ${String(item['kind'])}`);
        const page = `/console/reviews/${String(item['id'])}`;
        if (n === 0) {
          const visitor = await new Visitor(world.daemons[0]?.url ?? '').login(OPS_KEY);
          const form = await visitor.form(page, `${page}/resolve`);
          expect((await visitor.post(`${page}/resolve`, { ...form, resolution: 'dismiss', note })).status).toBe(303);
        } else if (n === 1) {
          const resolved = await cliJson(
            ['reviews', 'resolve', String(item['id']), 'dismiss', '--note', note, '--yes'],
            world.env,
          );
          expect(resolved.code).toBe(0);
        } else await resolve(world, item, 'dismiss', note);
      }
      await quiet();
    }
    await cliJson(['verify'], world.env);
    for (const { id } of await world.list<{ id: string }>('/v1/verify/differences?limit=100'))
      await as('POST /v1/verify/differences/{id}/acknowledge', { id });
    called.add('POST /v1/verify/differences/{id}/acknowledge');
    await cliJson(['verify'], world.env);

    // The rest of the API answers from its own checks or from the MoR, and keeps nothing.
    for (const route of ROUTES_WITH_BODY)
      if (!called.has(route) && !OF_MERCHANT.test(route))
        await as(route, { id: '11111111-2222-4333-8444-555555555555' });
    await quiet();
  }, 400_000);

  it('the canaries stand in every route with a body and in every type of event that the endpoints accept', () => {
    expect(ROUTES_WITH_BODY.filter((route) => !called.has(route) && !OF_MERCHANT.test(route))).toEqual([]);
    const types = new Set(
      [...canaries.planted].filter((f) => f.startsWith('event ')).map((f) => f.split(' ')[1]?.split('.data')[0]),
    );
    for (const type of [...stripeInvoiceTypes, ...PAYMENT_TYPES, ...MOR_SERVICE_TYPES]) expect(types).toContain(type);
    expect(canaries.planted.size).toBeGreaterThan(400);
    expect(
      readdirSync('test/wire/mor-events')
        .map((f) => f.replace('.json', ''))
        .filter((t) => !types.has(t)),
    ).toEqual([]);
  });

  it('no log line at level info or above holds a word of a person, of Stripe or of the MoR', () => {
    const loud = world.logLines.filter((line) => !line.includes('"level":"debug"'));
    expect([...new Set(loud.flatMap((line) => canaries.found(line)))]).toEqual([]);
  });

  it('the audit log holds no word of a person', async () => {
    const rows = await world.query<{ v: string }>(`select a::text as v from audit a`);
    expect([...new Set(rows.flatMap(({ v }) => canaries.found(v)))]).toEqual([]);
  });

  it('after the erasure no table holds a word of or about the customer, and neither a rebuild nor later work brings one back', async () => {
    expect((await inDatabase(world, canaries)).length).toBeGreaterThan(50);
    for (const customer of [s.customerId, 'cus_quill'])
      expect(await cliJson(['erase', customer, '--yes'], world.env)).toMatchObject({ code: 0, body: { waiting: 0 } });
    expect(await inDatabase(world, canaries)).toEqual([]);
    const lines = world.logLines.length;

    expect(await cliJson(['rebuild', '--check'], world.env)).toMatchObject({ code: 0, body: { differed: 0 } });
    await world.query(`insert into lane (key, due_at) select invoice_id, now() from invoice on conflict do nothing`);
    await world.advance(90_000);
    await quiet();
    for (const id of invoices) {
      for (const path of [`/v1/invoices/${id}`, `/v1/reviews?invoice_id=${id}`])
        expect((await world.api('GET', path)).status).toBe(200);
    }
    await cliJson(['verify'], world.env);
    await cliJson(['rebuild'], world.env);
    expect(await inDatabase(world, canaries)).toEqual([]);
    expect(world.logLines.slice(lines).flatMap((line) => canaries.found(line))).toEqual([]);
  });
});

function must(reply: Reply, status: number): void {
  if (reply.status !== status) throw new Error(`${status} expected: ${reply.status} ${JSON.stringify(reply.body)}`);
}

/** The event once for each text in it, with words in this field alone. Such an event may be unusable. */
function oneByOne(event: Json, path: string, canaries: Canaries): Json[] {
  const places: string[][] = [];
  const walk = (value: unknown, at: string[]): void => {
    if (typeof value === 'string') places.push(at);
    else if (typeof value === 'object' && value !== null && !Array.isArray(value))
      for (const [name, inner] of Object.entries(value)) walk(inner, [...at, name]);
  };
  walk(event['data'], ['data']);
  return places
    .filter((place) => !/(^|_)id$|Id$|^(object|customer|subscription)$/.test(place.at(-1) ?? ''))
    .map((place) => put(event, place, canaries.in(`${path}.${place.join('.')} alone`)) as Json);
}

function put(value: unknown, [name, ...rest]: readonly string[], words: string): unknown {
  if (name === undefined) return words;
  const object = value as Json;
  return { ...object, [name]: put(object[name], rest, words) };
}

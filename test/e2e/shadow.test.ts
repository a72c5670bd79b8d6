// Shadow mode end to end: a daemon beside the one in charge, on a database of its own, decides the same and changes nothing.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Daemon } from '../../src/daemon.js';
import { cli, cliJson } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { company } from '../support/builders/company.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';
import {
  type Json,
  OPS_KEY,
  type Reply,
  startWorld,
  type Subscriber,
  type World,
  queryAt,
} from '../support/rigs/world.js';
import { deliver } from './support/endpoint.js';
import { deafMor, newPaid, openRenewal, type Paid, paymentObject, type Said, stripeSide } from './support/story.js';

type Shadow = {
  marks_agreed: number;
  marks_not_made_yet: number;
  calls_not_sent: Record<string, number>;
  differences: { invoice_id: string; means: string }[];
};

describe('a daemon in shadow mode', () => {
  let world: World;
  let database: TestDatabase;
  let shadow: Daemon;
  let inCharge: Daemon;
  let s: Subscriber;
  let env: Record<string, string>;

  beforeAll(async () => {
    world = await startWorld();
    inCharge = await world.startDaemon();
    database = await freshDatabase();
    env = { ...world.env, DATABASE_URL: database.url, CROSSBILL_SHADOW: 'true' };
    shadow = await world.startDaemon(env);
    const { stripe, secrets } = world.sandbox;
    stripe.state.addEndpoint(`${shadow.url}/webhooks/stripe`, secrets.stripeWebhookSecret);
    s = await world.paidSubscriber();
    await deafMor(world); // says the test's own words, to both
  });
  afterAll(async () => {
    await world.close();
    await database.drop();
  });

  const ask = async (method: string, path: string, body?: unknown): Promise<Reply> => {
    const headers = { authorization: `Bearer ${OPS_KEY}`, 'content-type': 'application/json', 'idempotency-key': path };
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const reply = await fetch(`${shadow.url}${path}`, { method, headers, ...init });
    return { status: reply.status, body: (await reply.json()) as Json, headers: reply.headers };
  };

  /** Waits until the shadow shows an invoice so. */
  const shadowSees = async (id: string, status: string): Promise<Json> => {
    const seen = await world.until(
      `the shadow shows ${id} ${status}`,
      () => ask('GET', `/v1/invoices/${id}`),
      (r) => r.body['status'] === status,
    );
    return seen.body;
  };

  /** One event of the MoR, delivered to each. */
  async function tellBoth(
    type: string,
    status: string,
    paid: Paid,
    said: Said,
    to = [inCharge, shadow],
  ): Promise<void> {
    const event = { id: `evt_${type}_${paid.paymentId}`, type, created: Math.floor(Date.now() / 1000) };
    const body = JSON.stringify({ ...event, data: { object: paymentObject(paid, status, said) } });
    for (const daemon of to) {
      const sent = await deliver(world, 'mor_payments', body, { base: daemon.url });
      expect(sent.status).toBe(200);
    }
  }

  /** The requests to the sandbox without reads and tokens, as `POST /v1/…`. */
  async function changes(): Promise<string[]> {
    const log = await world.control('GET', '/requests');
    return (log.body['data'] as Json[])
      .filter((r) => r['method'] !== 'GET' && r['path'] !== '/oauth2/token')
      .map((r) => `${String(r['method'])} ${String(r['path'])}`);
  }

  async function report(): Promise<Shadow & { code: number }> {
    const { code, body } = await cliJson<Shadow>(['shadow'], env);
    return { code, ...body };
  }

  it('a daemon in shadow mode decides the same as the daemon in charge, and sends nothing', async () => {
    const taken = await openRenewal(world, s);
    await shadowSees(taken, 'expected');
    await world.control('DELETE', '/requests');
    await tellBoth('payment.succeeded', 'succeeded', newPaid(), {
      customerId: s.customerId,
      invoiceId: taken,
      amount: 2990,
    });
    await world.invoice(taken, 'paid');
    const seen = await shadowSees(taken, 'paid');
    expect(JSON.stringify(seen['timeline'])).toContain('somebody else marked it');
    // Two marks would show here, though the idempotency store would answer the second.
    expect(await changes()).toEqual([
      'POST /v1/payment_records/report_payment',
      `POST /v1/invoices/${taken}/attach_payment`,
    ]);

    const refused = await openRenewal(world, s);
    await shadowSees(refused, 'expected');
    await world.control('DELETE', '/requests');
    const said = { customerId: s.customerId, invoiceId: refused, amount: 2990 };
    await tellBoth('payment.failed', 'failed', newPaid(), said);
    await world.invoice(refused, 'open');
    await shadowSees(refused, 'open');
    expect(await changes()).toEqual([]);
  });

  it('a daemon in shadow mode answers shadow_mode to every change at the API', async () => {
    await world.control('DELETE', '/requests');
    const tries: [string, string, unknown?][] = [
      ['POST', '/v1/signups', { kind: 'trial', customer: { id: s.customerId } }],
      ['POST', '/v1/payments/pay_any/refunds', { amount: 1 }],
      [
        'POST',
        `/v1/invoices/${s.firstInvoiceId}/payment-link`,
        { jurisdiction: 'DE', return_url: 'https://x.example' },
      ],
      ['POST', '/v1/mor/webhooks', { url: 'https://x.example/hook' }],
      ['POST', '/v1/onboarding/merchants', {}],
      ['PUT', '/v1/onboarding/merchants/any/product', {}],
      ['DELETE', '/v1/mor/webhooks/any'],
    ];
    for (const [method, path, body] of tries) {
      const reply = await ask(method, path, body);
      expect([path, reply.status, reply.body['code']]).toEqual([path, 409, 'shadow_mode']);
    }
    expect(await changes()).toEqual([]);
    const visitor = await new Visitor(shadow.url).login(OPS_KEY);
    expect((await visitor.get('/console')).text).toContain('<strong>Shadow mode.</strong>');
    const metrics = await (await fetch(`${shadow.url}/metrics`)).text();
    expect(metrics).toContain('crossbill_shadow_marks{outcome="agreed"} 1');
  });

  it('`crossbill onboard apply` in shadow mode names shadow_mode for each merchant, and stores no merchant', async () => {
    await world.control('DELETE', '/requests');
    const folder = mkdtempSync(join(tmpdir(), 'crossbill-shadow-'));
    const file = join(folder, 'merchants.json');
    writeFileSync(file, JSON.stringify({ merchantReference: 'larch', productCode: 'tor', company }));
    type Applied = { data: { error?: { code: string } }[] };
    const applied = await cliJson<Applied>(['onboard', 'apply', '--file', file, '--yes'], env);
    rmSync(folder, { recursive: true });
    expect([applied.code, applied.body.data.map((d) => d.error?.code)]).toEqual([1, ['shadow_mode']]);
    expect((await ask('GET', '/v1/onboarding/merchants')).body['data']).toEqual([]);
    expect(await changes()).toEqual([]);
  });

  it('`crossbill shadow` lists each invoice with a difference between Stripe and the decision of the shadow daemon', async () => {
    const [left, marked] = [await openRenewal(world, s), await openRenewal(world, s)];
    await shadowSees(left, 'expected');
    await shadowSees(marked, 'expected');
    await world.control('DELETE', '/requests');
    const said = { customerId: s.customerId, invoiceId: left, amount: 2990 };
    await tellBoth('payment.succeeded', 'succeeded', newPaid(), said, [shadow]);
    await shadowSees(left, 'marking');
    expect(await changes()).toEqual([]);
    await world.stripe.invoices.pay(marked, { paid_out_of_band: true });
    await shadowSees(marked, 'paid');
    await agePayments();

    const { code, marks_agreed, marks_not_made_yet, calls_not_sent, differences } = await report();
    expect([code, marks_agreed, marks_not_made_yet]).toEqual([3, 1, 1]);
    expect(calls_not_sent).toEqual({ report_payment: 2 });
    const means = (id: string): unknown => differences.filter((d) => d.invoice_id === id).map((d) => d.means);
    expect(means(left)).toEqual(['left open, Crossbill would mark']);
    expect(means(marked)).toEqual(['marked, Crossbill would leave open']);
    const text = await cli(['status'], env);
    expect(text.out).toContain(
      'Shadow mode: Crossbill sends nothing. Of its marks others made 1, and 1 are missing so far.',
    );
  });

  it('Crossbill marks an invoice charged during shadow mode as paid only when the operator runs `crossbill verify --repair`', async () => {
    await Promise.all([shadow.stop(), inCharge.stop()]);
    await world.control('DELETE', '/requests');
    const live = { ...env, CROSSBILL_SHADOW: 'false' };
    shadow = await world.startDaemon(live);
    const later = await openRenewal(world, s);
    const { stripe, secrets } = world.sandbox;
    stripe.state.addEndpoint(`${shadow.url}/webhooks/stripe`, secrets.stripeWebhookSecret);
    const said = { customerId: s.customerId, invoiceId: later, amount: 2990 };
    await tellBoth('payment.succeeded', 'succeeded', newPaid(), said, [shadow]);
    await shadowSees(later, 'paid');
    const marks = (await changes()).filter((c) => c.startsWith('POST /v1/payment_records'));
    expect(marks).toHaveLength(1); // the new one's

    const before = await cliJson<{ differences: Json[] }>(['verify'], live);
    const [left] = before.body.differences.filter((d) => d['kind'] === 'charged_not_marked');
    expect(left).toMatchObject({ repair: 'look-again' });
    await cli(['verify', '--repair', '--yes'], live);
    const invoiceId = String(left?.['invoice_id']);
    await shadowSees(invoiceId, 'paid');
    expect(await stripeSide(world, invoiceId)).toMatchObject({ status: 'paid', amountPaid: 2990 });
    expect((await stripeSide(world, invoiceId)).attached).toHaveLength(1);
  });

  /** To verify, anything begun less than two minutes ago is under way, not different. */
  async function agePayments(): Promise<void> {
    await queryAt(database.url, `update payment set recorded_at = recorded_at - interval '10 minutes'`);
  }
});

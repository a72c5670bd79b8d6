// `crossbill ask-mor` on empty books, and on books with a question of each kind.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { loadConfig } from '../../src/shared/config/index.js';
import { SignupsRepository } from '../../src/core/signups/signups.repository.js';
import { openAppContext } from '../../src/frames/cli/app-context.js';
import { deliver } from '../e2e/support/endpoint.js';
import { changeByHand } from '../support/rigs/lane-log.js';
import { type Json, OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { cli, cliJson } from './rig.js';
import { silentIo } from '../support/fakes/silent-io.js';

type Body = {
  client_id: string;
  questions: { topic: string; items: Record<string, string | null>[]; more: boolean }[];
};
const EMAIL = 'ada.lovelace@example.com';
const SPAN = { from: '2026-01-02T10:00:00Z', to: '2026-01-02T23:00:00Z' };

let world: World;
let db: pg.Pool;
beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
  db = new pg.Pool({ connectionString: world.databaseUrl, max: 1 });
});
afterAll(async () => {
  await db.end();
  await world.close();
});

const ask = async (): Promise<Body> => (await cliJson<Body>(['ask-mor'], world.env)).body;
const itemsOf = (body: Body, topic: string) => body.questions.find((q) => q.topic === topic)?.items ?? [];

it('while Crossbill has no payments, `crossbill ask-mor` prints one sentence instead of questions, with exit code 0', async () => {
  const ran = await cli(['ask-mor'], world.env);
  expect(ran.code).toBe(0);
  expect(ran.out.trim().split('\n')).toHaveLength(1);
  expect((await ask()).questions).toEqual([]);
});

it("`crossbill ask-mor` prints one question of each kind, with the MoR's own ids and no personal data", async () => {
  // A signup's payment without a name, and a paid renewal.
  const ada = await world.subscriber({ email: EMAIL });
  await world.invoice(ada.firstInvoiceId, 'paid');
  const invoiceId = await world.renew(ada.subscriptionId);
  await world.invoice(invoiceId, 'held');
  await world.advance(3_700);
  const { payments } = await world.invoice(invoiceId, 'paid');
  const paymentId = (payments as { id: string }[])[0]?.id ?? '';

  // A refund without an answer.
  const path = `/api/payments/${paymentId}/refund`;
  await world.control('POST', '/faults', { side: 'mor', method: 'POST', path, times: 50, action: 'drop_before' });
  const refund = await world.api(
    'POST',
    `/v1/payments/${paymentId}/refunds`,
    { amount: 700, reason: EMAIL },
    { 'idempotency-key': 'ask-mor' },
  );
  expect(refund).toMatchObject({ status: 202, body: { status: 'unknown' } });

  // A renewal without a verdict, long after it is due.
  await world.control('POST', '/faults', { target: 'deliveries', type: 'payment.succeeded', times: 1, action: 'lose' });
  const silent = await world.renew(ada.subscriptionId);
  await world.invoice(silent, 'expected');
  const late = (state: Parameters<Parameters<typeof changeByHand>[2]>[0]) =>
    state.invoice === null ? state : { ...state, invoice: { ...state.invoice, expectedBy: new Date(SPAN.from) } };
  await changeByHand(db, silent, late);

  // A signup without its completion.
  const signup = await world.api<Json>('POST', '/v1/signups', {
    kind: 'payment',
    customer: { id: 'cus_never', email: EMAIL },
    amount: 500,
    currency: 'eur',
  });
  const ownWorld = await openAppContext(loadConfig(world.env), silentIo(world.env));
  await ownWorld.get(SignupsRepository).tellOverdue(0);
  await ownWorld.close();

  // The webhook endpoints were closed for half a day, and one event came with an old stamp.
  await db.query(`insert into endpoints_open (id, opened_at, seen_at) values ('a', $1, $2), ('b', $3, $4)`, [
    new Date(Date.now() - 20 * 86_400_000),
    new Date(Date.now() - 10 * 86_400_000),
    new Date(Date.now() - 9 * 86_400_000),
    new Date(),
  ]);
  const stale = JSON.stringify({ id: 'evt_old_stamp', type: 'payment.succeeded', created: 1, data: { object: {} } });
  await deliver(world, 'mor_payments', stale, { t: Math.floor(Date.now() / 1000) - 7_200 });

  // A link paid twice.
  await world.control('POST', '/cards', { customer_id: ada.customerId, outcome: 'decline' });
  const refused = await world.renew(ada.subscriptionId);
  await world.invoice(refused, 'open');
  const link = await world.api<Json>('POST', `/v1/invoices/${refused}/payment-link`, {
    jurisdiction: 'GB',
    return_url: 'https://shop.example/back',
  });
  await world.control('POST', `/payment-links/${String(link.body['id'])}/pay`, {});
  await world.until(
    'the link is paid',
    () => world.api<Json>('GET', `/v1/invoices/${refused}/payment-link`),
    (r) => r.body['status'] === 'PAID',
  );
  await world.control('POST', `/payment-links/${String(link.body['id'])}/pay`, { again: true });

  const body = await world.until('each question is there', ask, (b) => b.questions.length === 6);
  expect(body.questions.map((q) => q.topic)).toEqual([
    'lost_events',
    'missing_verdicts',
    'unproven_charges',
    'unknown_refunds',
    'unnamed_payments',
    'ambiguous_money',
  ]);
  expect(itemsOf(body, 'lost_events')).toEqual([
    { event: null, type: 'all', from: expect.any(String), to: expect.any(String) },
    { event: 'evt_old_stamp', type: 'payment.succeeded', from: expect.any(String), to: expect.any(String) },
  ]);
  expect(itemsOf(body, 'missing_verdicts')).toMatchObject([
    { invoice: silent, customer: ada.customerId, amount: '29.90 EUR' },
  ]);
  expect(itemsOf(body, 'unproven_charges')).toMatchObject([
    { charge: null, payment_intent: signup.body['payment_intent_id'] },
  ]);
  expect(itemsOf(body, 'unknown_refunds')).toMatchObject([
    { payment: paymentId, amount: '7.00 EUR', idempotency_key: expect.any(String) },
  ]);
  expect(itemsOf(body, 'unnamed_payments')).toContainEqual(
    expect.objectContaining({ charge: ada.chargeId, invoice: ada.firstInvoiceId, amount: '29.90 EUR' }),
  );
  const money = itemsOf(body, 'ambiguous_money');
  expect(new Set(money.map((m) => m['invoice']))).toEqual(new Set([refused]));
  expect(new Set(money.map((m) => m['charge'])).size).toBe(2); // the refused try is no money

  const { code, out } = await cli(['ask-mor'], world.env);
  expect(code).toBe(0);
  for (const id of [
    silent,
    String(signup.body['payment_intent_id']),
    paymentId,
    ada.chargeId,
    refused,
    'evt_old_stamp',
  ])
    expect(out).toContain(id);
  const secrets = [OPS_KEY, world.env['MOR_CLIENT_SECRET'], world.env['STRIPE_API_KEY'], EMAIL, 'Ada'];
  for (const secret of secrets) expect(out + JSON.stringify(body)).not.toContain(secret);
});

it("`crossbill ask-mor` does not report an event as lost if two bodies arrived under the event's id", async () => {
  const again = JSON.stringify({ id: 'evt_twice', type: 'payment.failed', created: 1, data: { object: {} } });
  await deliver(world, 'mor_payments', again);
  await deliver(world, 'mor_payments', again.replace('"created":1', '"created":2'));
  expect(itemsOf(await ask(), 'lost_events').map((i) => i['event'])).not.toContain('evt_twice');
});

it('`crossbill ask-mor` asks about a renewal charged with a tax on top, and about a trial with an expired tax calculation', async () => {
  const bob = await world.subscriber();
  await world.invoice(bob.firstInvoiceId, 'paid');
  await world.control('POST', '/mor/open-facts', { renewal_tax: 'added' });
  const taxed = await world.renew(bob.subscriptionId);
  await world.advance(3_700);
  await world.invoice(taxed, 'review');
  await world.control('POST', '/mor/open-facts', { renewal_tax: 'none' });
  const trial = await world.api<Json>('POST', '/v1/signups', {
    kind: 'trial',
    customer: { id: 'cus_trial' },
    tax: {
      currency: 'EUR',
      customer: { billingAddress: { line1: 'Weg 1', city: 'Ulm', postalCode: '89073', country: 'DE' } },
      lineItems: [{ merchantLineItemReference: 'l', productCode: 'oak', unitPrice: '29.90' }],
      evidence: { billingCountry: 'DE', ipAddress: '203.0.113.9' },
    },
  });
  expect(trial.status).toBe(201);
  expect(itemsOf(await ask(), 'expired_calculations')).toEqual([]); // it is valid for 7 days
  await db.query(`update signup set created_at = created_at - interval '8 days' where id = $1`, [trial.body['id']]);

  const body = await ask();
  expect(itemsOf(body, 'other_amounts')).toEqual([
    {
      ...{ invoice: taxed, payment: expect.any(String), charge: expect.any(String) },
      ...{ taken: '35.58 EUR', amount_due: '29.90 EUR' },
    },
  ]);
  expect(itemsOf(body, 'expired_calculations')).toMatchObject([
    { setup_intent: trial.body['setup_intent_id'], tax_calculation: trial.body['tax_calculation_id'] },
  ]);
});

// Keys come from names found again after a restore: the repeat of an earlier request has no second effect.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { copyDatabase, type TestDatabase } from '../support/rigs/database.js';
import {
  type Json,
  type Reply,
  SIGNUP_KEY,
  startWorld,
  type Subscriber,
  type World,
  refusal,
  queryAt,
} from '../support/rigs/world.js';
import { refund, requestsOf, reviews, stripeSide, untilPayment, untilSide } from './support/story.js';

const TAX = {
  currency: 'EUR',
  taxBehavior: 'INCLUSIVE',
  customer: { billingAddress: { line1: '1', city: 'Paris', postalCode: '75001', country: 'FR' } },
  lineItems: [{ merchantLineItemReference: 'l', productCode: 'oak', unitPrice: '29.90' }],
  evidence: { billingCountry: 'FR', ipAddress: '203.0.113.9' },
};

describe('one key, one refund, also after a restore', () => {
  let world: World;
  let ada: Subscriber;
  const copies: TestDatabase[] = [];

  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
    ada = await world.paidSubscriber();
  });
  afterAll(async () => {
    await world.close();
    for (const copy of copies) await copy.drop();
  });
  beforeEach(() => restart());

  async function stop(): Promise<void> {
    await Promise.all(world.daemons.splice(0).map((d) => d.stop()));
  }

  /** The daemon again, on the given database, or on the world's. */
  async function restart(url = world.databaseUrl): Promise<void> {
    await stop();
    world.deliverTo(await world.startDaemon({ DATABASE_URL: url }));
  }

  async function backup(): Promise<string> {
    await stop();
    const copy = await copyDatabase(world.databaseUrl);
    copies.push(copy);
    await restart();
    return copy.url;
  }

  async function aRenewal(): Promise<{ invoiceId: string; paymentId: string }> {
    const renewed = await world.control('POST', '/stripe/renew', { subscription: ada.subscriptionId });
    const invoiceId = String(renewed.body['id']);
    const { payments } = (await world.invoice(invoiceId, 'paid')) as { payments: Json[] };
    return { invoiceId, paymentId: String(payments[0]?.['id']) };
  }

  /** Our own id of a payment; answers no longer show it after the MoR's name. */
  async function ourId(url: string, paymentId: string): Promise<string> {
    const [found] = await queryAt(url, 'select id from payment where payment_id = $1', [paymentId]);
    return String(found?.['id']);
  }

  async function atMor(paymentId: string): Promise<Json[]> {
    return (await world.control('GET', `/mor/refunds?payment=${paymentId}`)).body['data'] as Json[];
  }

  it.each<[string, Json]>([
    ['a part of the payment', { amount: 990, reason: 'goodwill', metadata: { ticket: 'T-1' } }],
    ['the whole payment', {}],
  ])(
    'a refund of %s under one key, before and again after a restored backup, stays one refund at the MoR',
    async (what, body) => {
      const { invoiceId, paymentId } = await aRenewal();
      const copy = await backup();
      const key = `K ${what}`;
      const first = await refund(world, paymentId, body, key);
      expect(first).toMatchObject({ status: 201, body: { status: 'succeeded' } });
      await untilSide(world, invoiceId, (side) => side.notes.length === 1);

      await restart(copy);
      expect((await world.api('GET', `/v1/payments/${paymentId}`)).body).toMatchObject({ refunds: [] });
      const ours = await ourId(copy, paymentId);
      expect(ours).toMatch(/^pmt_/);
      const again = await refund(world, ours, body, key);
      expect(again).toMatchObject({ status: 201, body: { mor_refund_id: first.body['mor_refund_id'] } });
      expect(await atMor(paymentId)).toHaveLength(1);
      const sent = await requestsOf(world, `side=mor&method=POST&path=/api/payments/${paymentId}/refund`);
      expect(sent.length).toBeGreaterThanOrEqual(2);
      expect(new Set(sent.map((r) => `${String(r['idempotency_key'])} ${JSON.stringify(r['body'])}`)).size).toBe(1);
      // It finds its twin on Stripe, and makes none.
      await untilPayment(world, paymentId, (p) =>
        (p['refunds'] as Json[]).every((r) => r['mirror'] === 'done' || r['credit_note_id'] !== null),
      );
      const side = await stripeSide(world, invoiceId);
      expect([side.refundReferences.length, side.notes.length]).toEqual([1, 1]);
      expect(await reviews(world, invoiceId)).toEqual([]);
    },
  );

  it("if the MoR's refund event arrives after a restored backup, a repeat of the refund under its key makes no second refund", async () => {
    const { invoiceId, paymentId } = await aRenewal();
    const copy = await backup();
    const { now_sec: since } = (await world.control('GET', '/clock')).body;
    const first = await refund(world, paymentId, { amount: 990 }, 'K-after-event');
    expect(first).toMatchObject({ status: 201, body: { status: 'succeeded' } });
    await untilSide(world, invoiceId, (side) => side.notes.length === 1);

    await restart(copy);
    await world.control('POST', '/mor/payment-events/again', { since_sec: since });
    await untilPayment(world, paymentId, (p) => (p['refunds'] as Json[]).length === 1);
    const again = await refund(world, paymentId, { amount: 990 }, 'K-after-event');
    expect(again).toMatchObject({
      status: 201,
      body: { status: 'succeeded', mor_refund_id: first.body['mor_refund_id'], origin: 'api' },
    });
    expect(await refund(world, paymentId, { amount: 990 }, 'K-after-event')).toMatchObject({
      status: 201,
      body: { id: again.body['id'], status: 'succeeded' },
    });
    const listed = (await world.api('GET', `/v1/refunds?invoice_id=${invoiceId}`)).body['data'] as Json[];
    expect(listed.map((r) => r['id'])).toEqual([again.body['id']]);
    // The request's own id stays a name of it.
    const [row] = await queryAt(copy, 'select asked_as from refund where id = $1', [again.body['id']]);
    const asked = String(row?.['asked_as']);
    expect(asked).not.toBe(again.body['id']);
    expect((await world.api('GET', `/v1/refunds/${asked}`)).body['id']).toBe(again.body['id']);
    // The rest is refundable at once.
    const remaining = await refund(world, paymentId, {}, 'K-the-rest');
    expect(remaining).toMatchObject({ status: 201, body: { status: 'succeeded', amount: 2000 } });
    expect(await atMor(paymentId)).toHaveLength(2);
    await untilSide(world, invoiceId, (side) => side.notes.length >= 2);
    expect((await stripeSide(world, invoiceId)).notes).toHaveLength(2);
    expect(await reviews(world, invoiceId)).toEqual([]);
  });

  it("a refund repeated under its key with Crossbill's own payment id is the same refund, and another amount gets 409", async () => {
    const { paymentId } = await aRenewal();
    const ours = await ourId(world.databaseUrl, paymentId);
    const one = await refund(world, paymentId, { amount: 500 }, 'one-scope');
    const two = await refund(world, ours, { amount: 500 }, 'one-scope');
    expect([one.status, two.status, two.body['id']]).toEqual([201, 201, one.body['id']]);
    expect(await refund(world, ours, { amount: 501 }, 'one-scope')).toMatchObject(refusal(409, 'idempotency_conflict'));
    expect(await atMor(paymentId)).toHaveLength(1);
  });

  it('after a restored backup, the MoR refuses a refund with a used key and another amount, and Crossbill tries no new key', async () => {
    const { invoiceId, paymentId } = await aRenewal();
    const copy = await backup();
    expect((await refund(world, paymentId, { amount: 500 }, 'K-other')).status).toBe(201);
    await restart(copy);
    const other = await refund(world, paymentId, { amount: 700 }, 'K-other');
    expect(other).toMatchObject(refusal(409, 'idempotency_conflict'));
    expect(await atMor(paymentId)).toHaveLength(1);
    const items = await reviews(world, invoiceId);
    expect(items).toMatchObject([
      { kind: 'refund_stuck', fact: { code: 'refund-waits', refused: { error: 'idempotency_conflict' } } },
    ]);
  });

  it('a signup repeated under its key after a restored backup stays one intent at the MoR', async () => {
    const copy = await backup();
    const body = { kind: 'payment', customer: { id: 'cus_restored' }, amount: 2990, currency: 'eur' };
    const signUp = (): Promise<Reply> =>
      world.api('POST', '/v1/signups', body, { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': 'order-7' });
    const first = await signUp();
    expect(first.status).toBe(201);
    await restart(copy);
    const again = await signUp();
    expect(again).toMatchObject({ status: 201, body: { payment_intent_id: first.body['payment_intent_id'] } });
    expect(again.body['client_secret']).toBe(first.body['client_secret']);
  });

  it('a signup with a paid invoice, repeated under its key and without invoice_id after a restored backup, is the same intent', async () => {
    const copy = await backup();
    const { customerId } = ada;
    const invoice = await world.stripe.invoices.create({ customer: customerId, currency: 'eur', auto_advance: false });
    const item = { customer: customerId, invoice: invoice.id, amount: 2990, currency: 'eur' };
    await world.stripe.invoiceItems.create(item);
    await world.stripe.invoices.finalizeInvoice(invoice.id, { auto_advance: false });
    const head = { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': 'order-9' };
    const signUp = (over: Json): Promise<Reply> =>
      world.api('POST', '/v1/signups', { kind: 'payment', customer: { id: customerId }, ...over }, head);
    const first = await signUp({ invoice_id: invoice.id });
    expect(first).toMatchObject({ status: 201, body: { amount_total: 2990 } });
    await world.stripe.invoices.pay(invoice.id, { paid_out_of_band: true });
    await restart(copy);
    expect(await signUp({ invoice_id: invoice.id })).toMatchObject(refusal(409, 'invoice_not_payable'));
    const again = await signUp({ amount: first.body['amount_total'], currency: 'eur' });
    expect(again).toMatchObject({ status: 201, body: { payment_intent_id: first.body['payment_intent_id'] } });
  });

  it('a signup with tax, repeated under its key after a restored backup, gets 409 and makes no second intent', async () => {
    const copy = await backup();
    const body = { kind: 'payment', customer: { id: 'cus_taxed' }, amount: 2990, currency: 'eur', tax: TAX };
    const signUp = (): Promise<Reply> =>
      world.api('POST', '/v1/signups', body, { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': 'order-8' });
    const first = await signUp();
    expect(first.status).toBe(201);
    await restart(copy);
    const again = await signUp();
    expect(again).toMatchObject(refusal(409, 'idempotency_conflict'));
    expect(String(again.body['message'])).toContain('the first call stands, this one was not done');
    // The way out in docs/backups.md.
    const fresh = { authorization: `Bearer ${SIGNUP_KEY}`, 'idempotency-key': 'order-8b' };
    expect(await world.api('POST', '/v1/signups', body, fresh)).toMatchObject({ status: 201 });
  });
});

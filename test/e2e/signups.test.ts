// Signups and a signup by bank debit, end to end.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type Json, type Reply, SIGNUP_KEY, useWorld, refusal } from '../support/rigs/world.js';
import { type Begun, begun, complete, confirmed } from './support/signups.js';
import {
  newPaid,
  requestsOf,
  reviews,
  stripeSide,
  tellSucceeded,
  untilPayment,
  untilSide,
  resolve,
  paidOnce,
} from './support/story.js';

// Signups: made once at the MoR however many requests come, and completed with a proven charge.
describe('signups', () => {
  const AS_SHOP = { authorization: `Bearer ${SIGNUP_KEY}` };

  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  beforeAll(async () => {
    await world.startDaemon();
  });

  const signUp = (body: Json, key: string | null = null): Promise<Reply> =>
    world.api('POST', '/v1/signups', body, { ...AS_SHOP, ...(key === null ? {} : { 'idempotency-key': key }) });
  const payment = (customerId = `cus_${randomUUID().slice(0, 8)}`, over: Json = {}): Json => ({
    kind: 'payment',
    customer: { id: customerId, email: 'ada@example.com' },
    amount: 2990,
    currency: 'eur',
    ...over,
  });
  const intentCalls = (): Promise<Json[]> => requestsOf(world, 'side=mor&path=/api/payments/cardpsp');
  it('a signup gets a payment intent and a trial a setup intent, and Crossbill shows the client secret once', async () => {
    const paid = await signUp(payment());
    expect(paid).toMatchObject({ status: 201, body: { kind: 'payment' } });
    expect(paid.body['client_secret']).toEqual(expect.stringContaining(String(paid.body['payment_intent_id'])));
    const trial = await signUp({
      kind: 'trial',
      customer: { id: 'cus_trial' },
      payment_method_types: ['card', 'sepa_debit'],
    });
    expect(trial).toMatchObject({ status: 201, body: { kind: 'trial' } });
    expect(trial.body['setup_intent_id']).toEqual(expect.stringMatching(/^seti_/));
    for (const made of [paid, trial]) {
      const shown = await world.api('GET', `/v1/signups/${String(made.body['id'])}`);
      expect(shown.status).toBe(200);
      expect(JSON.stringify(shown.body)).not.toContain(String(made.body['client_secret']));
    }
    const of = await world.api('GET', '/v1/customers/cus_trial');
    expect(of.body).toMatchObject({ customer_id: 'cus_trial', mor_customer_id: trial.body['mor_customer_id'] });
    const done = await complete(world, { id: String(trial.body['id']), invoiceId: 'in_1' }, 'ch_1');
    expect(done).toMatchObject(refusal(409, 'signup_has_no_payment'));
  });

  it("Crossbill completes a trial's signup only when the MoR charges the saved payment method", async () => {
    const customer = await world.stripe.customers.create({ email: 'ada@example.com' });
    const trial = await signUp({ kind: 'trial', customer: { id: customer.id } });
    const shown = (): Promise<Reply> => world.api('GET', `/v1/signups/${String(trial.body['id'])}`);
    expect((await shown()).body['status']).toBe('requires_payment_method');
    const invoice = await world.stripe.invoices.create({ customer: customer.id, currency: 'eur', auto_advance: false });
    await world.stripe.invoiceItems.create({
      customer: customer.id,
      invoice: invoice.id,
      amount: 2990,
      currency: 'eur',
    });
    await world.stripe.invoices.finalizeInvoice(invoice.id, { auto_advance: false });
    expect((await shown()).body['status']).toBe('requires_payment_method');
    await world.advance(2); // the MoR's times are whole seconds: the charge is later than the trial
    await tellSucceeded(world, newPaid(), { customerId: customer.id, invoiceId: invoice.id, amount: 2990 });
    await paidOnce(world, invoice.id);
    await world.until('the trial is completed', shown, (r) => r.body['status'] === 'completed');
  });

  it.each([
    ['a 503 of the MoR', { action: 'status', status: 503 }],
    ['a 500 of the MoR', { action: 'status', status: 500 }],
    ['a lost request', { action: 'drop_before' }],
    ['a lost response', { action: 'drop_after' }],
    ['a 502 in place of the response', { action: 'status_after', status: 502 }],
    ['a garbled response', { action: 'garble' }],
    ['a 503 to a trial', { action: 'status', status: 503 }, 'setup-intents'],
    ['a lost response to a trial', { action: 'drop_after' }, 'setup-intents'],
  ])('a signup repeated under its key makes one intent after %s', async (_, fault, path = 'payment-intents') => {
    const key = randomUUID();
    const body = path === 'setup-intents' ? { kind: 'trial', customer: { id: `cus_${key.slice(0, 8)}` } } : payment();
    await world.fault({ side: 'mor', method: 'POST', path: `/api/payments/cardpsp/${path}`, ...fault });
    const before = (await intentCalls()).length;
    const failed = await signUp(body, key);
    expect(failed).toMatchObject(refusal(502, 'mor_unavailable'));
    const made = await signUp(body, key);
    expect(made.status).toBe(201);
    const calls = (await intentCalls()).slice(before);
    expect(calls).toHaveLength(2);
    expect(new Set(calls.map((c) => `${String(c['idempotency_key'])} ${JSON.stringify(c['body'])}`)).size).toBe(1);
    expect((await world.api('GET', `/v1/signups/${String(made.body['id'])}`)).body['status']).toBe(made.body['status']);
  });

  it("the caller of a signup gets the MoR's status and code when the MoR refuses the signup", async () => {
    expect(await signUp(payment('cus_small', { amount: 1 }))).toMatchObject(refusal(422, 'amount_out_of_range'));
    expect(await signUp(payment('cus_calc', { tax_calculation_id: randomUUID() }))).toMatchObject(
      refusal(404, 'tax_calculation_not_found'),
    );
    await world.control('POST', '/merchant', { suspended: true });
    expect(await signUp(payment())).toMatchObject(refusal(403, 'merchant_suspended'));
    await world.control('POST', '/merchant', { suspended: false });
  });

  it('Crossbill marks no invoice paid for a charge unknown to the MoR', async () => {
    const b = await begun(world);
    expect((await complete(world, b, 'ch_made_up_by_a_browser')).status).toBe(202);
    await world.until(
      'the MoR was asked twice',
      () => requestsOf(world, 'side=mor&path=/api/payments/invoice'),
      (seen) => seen.filter((r) => (r['query'] as Json)['psp_reference'] === 'ch_made_up_by_a_browser').length >= 2,
    );
    expect(await stripeSide(world, b.invoiceId)).toMatchObject({ status: 'open', records: [] });
    expect((await world.api('GET', `/v1/signups/${b.id}`)).body).toMatchObject({ mark: 'proving' });
  });

  it('Crossbill lets one charge pay only one signup and one invoice', async () => {
    const b = await begun(world);
    const { chargeId } = await confirmed(world, b);
    await complete(world, b, chargeId);
    await paidOnce(world, b.invoiceId);
    const other = await begun(world);
    expect(await complete(world, other, chargeId)).toMatchObject(refusal(409, 'charge_already_used'));
    expect(await complete(world, other, chargeId, { invoice_id: b.invoiceId })).toMatchObject({ status: 409 });
    expect(await stripeSide(world, other.invoiceId)).toMatchObject({ status: 'open', records: [] });
    expect(await complete(world, b, 'ch_another')).toMatchObject(refusal(409, 'signup_already_completed'));
    expect((await complete(world, { ...b, id: 'sup_unknown' }, chargeId)).status).toBe(404);
  });

  it('when two signups report one charge at the same moment, Crossbill accepts one signup and refuses the other', async () => {
    const [one, two] = [await begun(world), await begun(world)];
    const { chargeId } = await confirmed(world, one);
    const notified = await Promise.all([complete(world, one, chargeId), complete(world, two, chargeId)]);
    expect(notified.map((t) => t.status).sort()).toEqual([202, 409]);
  });

  it("Crossbill mirrors a refund made in the MoR's portal for the payment of a signup", async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    await complete(world, b, chargeId);
    await paidOnce(world, b.invoiceId);
    await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990, reason: 'goodwill' });
    const shown = await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 990);
    expect(shown).toMatchObject({ invoice_id: b.invoiceId, status: 'partially_refunded' });
    await untilSide(world, b.invoiceId, (side) => side.notes.length === 1);
    await paidOnce(world, b.invoiceId);
  });

  it('a completion without payment_id says what is missing, and the same completion with it makes the payment refundable', async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    const bare = await complete(world, b, chargeId);
    expect(bare).toMatchObject({ status: 202, body: { missing: [{ field: 'payment_id' }] } });
    const ours = String((bare.body['payment'] as Json)['id']);
    expect(JSON.stringify(bare.body['missing'])).toContain(`/v1/payments/${ours}/identify`);
    await paidOnce(world, b.invoiceId);
    const refunded = (id: string): Promise<Reply> =>
      world.api('POST', `/v1/payments/${id}/refunds`, { amount: 990 }, { 'idempotency-key': randomUUID() });
    expect(await refunded(ours)).toMatchObject(refusal(409, 'payment_not_identified'));
    const named = await complete(world, b, chargeId, { payment_id: paymentId });
    expect(named).toMatchObject({ status: 202, body: { payment_id: paymentId, missing: [] } });
    expect((await complete(world, b, chargeId)).body['missing']).toEqual([]);
    expect((await refunded(paymentId)).status).toBe(201);
    await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 990);
  });

  it('if the MoR names no invoice for a refund, Crossbill finds the invoice by the charge', async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    await complete(world, b, chargeId);
    await paidOnce(world, b.invoiceId);
    const atMor = world.sandbox.mor.payments.get(paymentId);
    if (atMor === undefined) throw new Error('the MoR has no such payment');
    atMor.merchantInvoiceId = null;
    await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990, reason: 'goodwill' });
    const shown = await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 990);
    expect(shown).toMatchObject({ invoice_id: b.invoiceId, status: 'partially_refunded' });
    // The next one names the invoice and adds up with it.
    atMor.merchantInvoiceId = b.invoiceId;
    await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 2000 });
    await untilPayment(world, paymentId, (p) => p['amount_refunded'] === 2990);
    const side = await untilSide(world, b.invoiceId, (seen) => seen.notes.length === 2);
    expect(side.notes.toSorted()).toEqual([2000, 990]);
    expect(await reviews(world, b.invoiceId)).toEqual([]);
  });

  it("Crossbill books one payment when payment.succeeded arrives before the signup's completion", async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    await tellSucceeded(
      world,
      { paymentId, chargeId, intentId: b.intentId },
      { customerId: b.customerId, invoiceId: b.invoiceId, amount: 2990 },
    );
    await paidOnce(world, b.invoiceId);
    expect((await complete(world, b, chargeId)).status).toBe(202);
    await paidOnce(world, b.invoiceId);
    const shown = await world.api<{ payments: Json[] }>('GET', `/v1/invoices/${b.invoiceId}`);
    expect(shown.body.payments).toHaveLength(1);
    expect(shown.body.payments[0]).toMatchObject({ id: paymentId });
  });
});

// No mark before settlement: the MoR knows a signup by bank debit for days before its money arrives, or fails.
describe('no mark before settlement', () => {
  const DAY_SEC = 86_400;

  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });

  /** A signup by bank debit in the MoR's state `processing`, completed by the shop and looked up. */
  async function processing(outcome: string | null): Promise<Begun> {
    const b = await begun(world);
    if (outcome === null) await world.control('POST', '/cards', { customer_id: b.customerId, outcome: 'bank_debit' });
    const { chargeId } = await confirmed(world, b, outcome);
    expect(await complete(world, b, chargeId)).toMatchObject({
      status: 202,
      body: { mark: 'proving', payment: { status: 'processing', succeeded_at: null } },
    });
    await world.shows(
      `/v1/signups/${b.id}`,
      (r) => (r['proof'] as { status?: string } | undefined)?.status === 'waiting_for_settlement',
    );
    expect((await world.api('GET', `/v1/signups/${b.id}`)).body['status']).toBe('requires_payment_method');
    return b;
  }

  it.each([
    ['configured for the customer', null],
    ['chosen in the browser', 'bank_debit'],
  ])(
    'if a bank debit (%s) settles only after Stripe voids the invoice, a review item opens and Crossbill marks no invoice paid',
    async (_, outcome) => {
      const b = await processing(outcome);
      const asked = await world.until(
        'the MoR was asked three times',
        () => requestsOf(world, 'side=mor&path=/api/payments/invoice'),
        (seen) => seen.length >= 3,
      );
      expect(asked.at(-1)).toMatchObject({ status: 202 });
      expect(await stripeSide(world, b.invoiceId)).toMatchObject({ status: 'open', records: [] });
      const shown = await world.api('GET', `/v1/invoices/${b.invoiceId}`);
      expect(shown.body).toMatchObject({
        status: 'open',
        payments: [
          {
            status: 'processing',
            proof: { status: 'waiting_for_settlement', since: expect.any(String), next_look_at: expect.any(String) },
          },
        ],
      });
      const ledger = await world.api('GET', `/v1/ledger?invoice_id=${b.invoiceId}`);
      expect(ledger.body['data']).toEqual([]);

      await world.advance(5 * DAY_SEC);
      const [item] = await world.until('a person is asked', () => reviews(world, b.invoiceId), { length: 1 });
      expect(item).toMatchObject({ kind: 'invoice_not_payable' });
      expect(await stripeSide(world, b.invoiceId)).toMatchObject({ status: 'void', records: [] });
      const after = await world.api('GET', `/v1/invoices/${b.invoiceId}`);
      expect(after.body).toMatchObject({ status: 'review', payments: [{ status: 'succeeded', amount: 2990 }] });
      expect((after.body['payments'] as object[])[0]).not.toHaveProperty('proof');
    },
  );

  it('when a bank debit settles before Stripe voids the invoice, Crossbill marks the invoice paid once', async () => {
    const b = await processing('bank_debit');
    const atMor = [...world.sandbox.mor.payments.values()].find((p) => p.merchantCustomerId === b.customerId);
    if (atMor === undefined) throw new Error('the MoR has no such payment');
    world.sandbox.cards.charges.succeed(atMor); // a fast bank: within Stripe's 23 hours
    await paidOnce(world, b.invoiceId);
    expect((await world.api('GET', `/v1/signups/${b.id}`)).body['status']).toBe('completed');
    expect(await reviews(world, b.invoiceId)).toEqual([]);
    await world.advance(5 * DAY_SEC); // the MoR's own clock says it again
    await paidOnce(world, b.invoiceId);
  });

  it('a failed bank debit opens a `signup_unproven` review item, and Stripe gets no payment record', async () => {
    const b = await processing('bank_debit_failed');
    const atMor = [...world.sandbox.mor.payments.values()].find((p) => p.merchantCustomerId === b.customerId);
    if (atMor === undefined) throw new Error('the MoR has no such payment');
    await world.advance(5 * DAY_SEC);
    expect(atMor.status).toBe('failed');
    // The MoR's own event, where it posts one, ends the proof at once; else the look-up's 404 does, after two hours.
    world.sandbox.cards.events.verdict({ ...atMor, merchantInvoiceId: b.invoiceId });
    const [item] = await world.until('a person is asked', () => reviews(world, b.invoiceId), { length: 1 });
    expect(item).toMatchObject({
      kind: 'signup_unproven',
      fact: { code: 'charge-failed', reason: 'debit_not_authorized' },
    });
    const side = await stripeSide(world, b.invoiceId);
    expect(side.records).toEqual([]);
    expect(side.status).not.toBe('paid');
    expect((await world.api('GET', `/v1/invoices/${b.invoiceId}`)).body).toMatchObject({
      status: 'review',
      payments: [{ status: 'failed', succeeded_at: null, decline_code: 'debit_not_authorized' }],
    });
    const settled = await resolve(world, item, 'dismiss');
    expect(settled.status).toBe(200);
    expect((await stripeSide(world, b.invoiceId)).records).toEqual([]);
  });
});

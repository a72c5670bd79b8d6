// The main job, end to end: sandbox, real daemon, real PostgreSQL, real signatures; in both mark modes and both draft policies.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, startWorld, type World } from '../support/world.js';

const MODES = [
  { BILLING_MARK_MODE: 'payment_record', BILLING_DRAFT_POLICY: 'wait' },
  { BILLING_MARK_MODE: 'payment_record', BILLING_DRAFT_POLICY: 'finalize' },
  { BILLING_MARK_MODE: 'out_of_band', BILLING_DRAFT_POLICY: 'wait' },
  { BILLING_MARK_MODE: 'out_of_band', BILLING_DRAFT_POLICY: 'finalize' },
];

describe.each(MODES)('with $BILLING_MARK_MODE and drafts $BILLING_DRAFT_POLICY', (mode) => {
  let world: World;
  const record = mode.BILLING_MARK_MODE === 'payment_record';
  const waits = mode.BILLING_DRAFT_POLICY === 'wait';

  beforeAll(async () => {
    world = await startWorld(mode);
    await world.startDaemon();
  });
  afterAll(() => world.close());

  async function stripeSide(invoiceId: string): Promise<{ status: string | null; records: string[]; notes: number }> {
    const invoice = await world.stripe.invoices.retrieve(invoiceId, { expand: ['payments'] });
    const paid = (invoice.payments?.data ?? []).filter((p) => p.status === 'paid');
    const records = paid.flatMap(({ payment: { payment_record: r } }) =>
      r === undefined ? [] : [typeof r === 'string' ? r : r.id],
    );
    const notes = await world.stripe.creditNotes.list({ invoice: invoiceId });
    return { status: invoice.status, records, notes: notes.data.length };
  }

  it('marks the first invoice paid once the signup is completed, and the renewal once the card was charged', async () => {
    const s = await world.subscriber();
    const first = await world.invoice(s.firstInvoiceId, 'paid');
    expect(first['billing_reason']).toBe('subscription_create');
    expect((await stripeSide(s.firstInvoiceId)).records).toHaveLength(record ? 1 : 0);

    const renewal = await world.renew(s.subscriptionId);
    if (waits) {
      await world.invoice(renewal, 'held');
      await world.advance(3_700);
    }
    const paid = await world.invoice(renewal, 'paid');
    const [payment] = paid['payments'] as Json[];
    expect(payment).toMatchObject({ status: 'succeeded', amount: 2990, currency: 'eur' });
    const there = await stripeSide(renewal);
    expect(there.status).toBe('paid');
    expect(there.records).toEqual(record ? [payment?.['payment_record_id']] : []);
    expect((await world.stripe.subscriptions.retrieve(s.subscriptionId)).status).toBe('active');
  });

  it('leaves a declined renewal open and marks it when a later try succeeds', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const renewal = await world.renew(s.subscriptionId);
    const open = await world.invoice(renewal, 'open');
    expect(open['payments']).toMatchObject([{ status: 'failed' }]);
    await world.advance(3_700);
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'succeed' });
    await world.control('POST', '/mor/retry', { invoice_id: renewal });
    await world.invoice(renewal, 'paid');
  });

  it('mirrors a partial refund and then the rest', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    const renewal = await world.renew(s.subscriptionId);
    if (waits) {
      await world.invoice(renewal, 'held');
      await world.advance(3_700);
    }
    const paid = await world.invoice(renewal, 'paid');
    const id = String((paid['payments'] as Json[])[0]?.['id']);
    expect(id).toMatch(/^pay_/);
    const part = await world.api(
      'POST',
      `/v1/payments/${id}/refunds`,
      { amount: 1000, reason: 'requested_by_customer' },
      { 'idempotency-key': `${id}-1` },
    );
    expect(part).toMatchObject({ status: 201, body: { amount: 1000, status: 'succeeded', payment_id: id } });
    const again = await world.api(
      'POST',
      `/v1/payments/${id}/refunds`,
      { amount: 1000, reason: 'requested_by_customer' },
      { 'idempotency-key': `${id}-1` },
    );
    expect(again.body['id']).toBe(part.body['id']);
    const rest = await world.api('POST', `/v1/payments/${id}/refunds`, {}, { 'idempotency-key': `${id}-2` });
    expect(rest.body).toMatchObject({ amount: 1990, status: 'succeeded' });
    await world.until(
      'both refunds show on Stripe',
      () => stripeSide(renewal),
      (there) => there.notes === 2,
    );
    const after = await world.api('GET', `/v1/payments/${id}`);
    expect(after.body).toMatchObject({ status: 'refunded', amount_refunded: 2990 });
    expect(after.body['refunds']).toHaveLength(2);
    const third = await world.api(
      'POST',
      `/v1/payments/${id}/refunds`,
      { amount: 1 },
      { 'idempotency-key': `${id}-3` },
    );
    expect(third.status).toBe(422);
  });

  it('needs exactly three calls at Stripe for a renewal whose invoice is open when the money comes', async () => {
    const s = await world.subscriber();
    await world.invoice(s.firstInvoiceId, 'paid');
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'bank_debit' });
    const renewal = await world.renew(s.subscriptionId);
    await world.advance(3_700);
    await world.control('DELETE', '/requests');
    await world.advance(5 * 86_400);
    await world.invoice(renewal, 'paid');
    const log = await world.control('GET', '/requests?side=stripe');
    // What Stripe would charge by itself was looked at five seconds after the draft became known, whenever that was.
    const calls = (log.body['data'] as Json[])
      .map((r) => `${String(r['method'])} ${String(r['path'])}`.replace(renewal, 'in'))
      .filter((call) => !call.startsWith('GET /v1/subscriptions/'));
    expect(calls).toEqual(
      record
        ? ['GET /v1/invoices/in', 'POST /v1/payment_records/report_payment', 'POST /v1/invoices/in/attach_payment']
        : ['GET /v1/invoices/in', 'POST /v1/invoices/in', 'POST /v1/invoices/in/pay'],
    );
  });
});

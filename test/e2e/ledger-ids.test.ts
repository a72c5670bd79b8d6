// The ledger names what it tells of by every id that is known, also by those that came after the entry was made.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Visitor } from '../console/visitor.js';
import { type Json, READ_KEY, startWorld, type World } from '../support/world.js';
import { begun, complete, confirmed, paidOnce } from './support/signups.js';
import { refund } from './support/story.js';

describe('a row of the ledger', () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
    await world.startDaemon();
  });
  afterAll(() => world.close());

  const ledgerOf = async (invoiceId: string): Promise<Json[]> =>
    (await world.api<{ data: Json[] }>('GET', `/v1/ledger?invoice_id=${invoiceId}`)).body.data.reverse();

  it('carries customer, invoice, payment, charge, record, refund and credit note, each as soon as it is known and never changed itself', async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    const done = await complete(world, b, chargeId, {});
    await paidOnce(world, b.invoiceId);
    const ours = String((done.body['payment'] as Json)['id']);
    const stripe = await world.stripe.invoices.retrieve(b.invoiceId);
    const [signup] = (await world.api<{ signups: Json[] }>('GET', `/v1/customers/${b.customerId}`)).body.signups;

    const before = await ledgerOf(b.invoiceId);
    expect(before.map((e) => e['reason'])).toEqual(['payment_collected', 'payment_marked']);
    for (const entry of before) {
      expect(entry).toMatchObject({
        customer_id: b.customerId,
        mor_customer_id: signup?.['mor_customer_id'],
        invoice_id: b.invoiceId,
        invoice_number: stripe.number,
        payment_id: ours,
        processor_charge_id: chargeId,
        payment_record_id: expect.stringMatching(/^pr_/),
      });
      for (const ofRefunds of ['refund_id', 'mor_refund_id', 'processor_refund_id', 'credit_note_id'])
        expect(entry).not.toHaveProperty(ofRefunds);
    }

    await world.api('POST', `/v1/payments/${ours}/identify`, { payment_id: paymentId });
    const named = await ledgerOf(b.invoiceId);
    expect(named).toEqual(before.map((e) => ({ ...e, payment_id: paymentId })));

    expect(await refund(world, paymentId, { amount: 500 })).toMatchObject({ status: 201 });
    const entries = await world.until(
      'the mirror is booked',
      () => ledgerOf(b.invoiceId),
      (found) => found.length === 4,
    );
    const { data: notes } = await world.stripe.creditNotes.list({ invoice: b.invoiceId });
    expect(notes).toHaveLength(1);
    const [made] = (await world.api<{ refunds: Json[] }>('GET', `/v1/payments/${paymentId}`)).body.refunds;
    expect(entries.slice(0, 2)).toEqual(named);
    for (const entry of entries.slice(2)) {
      expect(entry).toMatchObject({
        customer_id: b.customerId,
        payment_id: paymentId,
        processor_charge_id: chargeId,
        refund_id: made?.['id'],
        mor_refund_id: expect.stringMatching(/^rfnd_/),
        processor_refund_id: made?.['processor_refund_id'],
        credit_note_id: notes[0]?.id,
      });
    }
  });

  it('shows all of them on the console, folded', async () => {
    const [entry] = (await world.api<{ data: Json[] }>('GET', '/v1/ledger?reason=refund_paid')).body.data;
    const visitor = await new Visitor(world.daemons[0]?.url ?? '').login(READ_KEY);
    const { status, text } = await visitor.get('/console/ledger?reason=refund_paid');
    expect([status, text]).toEqual([200, expect.stringContaining('<details class="ids">')]);
    for (const [name, id] of Object.entries(entry ?? {}).filter(([name]) => name.endsWith('_id')))
      expect([name, text]).toEqual([name, expect.stringContaining(String(id))]);
  });

  it('belongs to the time at which the MoR moved the money', async () => {
    for (const entry of (await world.api<{ data: Json[] }>('GET', '/v1/ledger?reason=refund_paid')).body.data) {
      const found = await world.api('GET', `/v1/refunds/${String(entry['mor_refund_id'])}`);
      expect(entry['moved_at']).toBe(found.body['succeeded_at']);
    }
    for (const entry of (await world.api<{ data: Json[] }>('GET', '/v1/ledger?reason=payment_collected')).body.data) {
      const found = await world.api('GET', `/v1/payments/${String(entry['payment_id'])}`);
      expect(entry['moved_at']).toBe(found.body['succeeded_at']);
    }
  });
});

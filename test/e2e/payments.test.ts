// A payment without a name, one charge for two invoices and the ids in the ledger, end to end.
import { describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import { Visitor } from '../console/visitor.js';
import { openInvoice, PROFORMA } from '../support/rigs/channels.js';
import { transferInPortal } from '@crossbill/sandbox/mor/portal.js';
import { type Json, READ_KEY, type Reply, useWorld, refusal, wrongField } from '../support/rigs/world.js';
import { begun, complete, confirmed } from './support/signups.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  refund,
  stripeSide,
  tellSucceeded,
  untilReviews,
  untilSide,
  resolve,
  paidOnce,
} from './support/story.js';

// Every payment is refundable: the shop, a person or `payment.captured` names a payment without a name from the MoR's
// events.
describe('every payment is refundable', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });

  const identify = (id: string, paymentId: string): Promise<Reply> =>
    world.api('POST', `/v1/payments/${id}/identify`, { payment_id: paymentId });

  /** A paid signup; `ours` is our own id of its payment. */
  async function signedUp(named: boolean): Promise<{ ours: string; paymentId: string; invoiceId: string }> {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    const done = await complete(world, b, chargeId, named ? { payment_id: paymentId } : {});
    expect(done.status).toBe(202);
    await paidOnce(world, b.invoiceId);
    return { ours: String((done.body['payment'] as Json)['id']), paymentId, invoiceId: b.invoiceId };
  }

  async function refunded(paymentId: string, invoiceId: string): Promise<void> {
    expect(await refund(world, paymentId, { amount: 990 })).toMatchObject({
      status: 201,
      body: { status: 'succeeded', payment_id: paymentId },
    });
    await untilSide(world, invoiceId, (side) => side.notes.length === 1);
  }

  it("a payment_id in the signup's completion makes the payment refundable under this id", async () => {
    const { ours, paymentId, invoiceId } = await signedUp(true);
    expect(ours).toBe(paymentId);
    await refunded(paymentId, invoiceId);
  });

  it('the operator gives a payment its MoR id and refunds the payment, and Crossbill refuses a second id', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect(await refund(world, ours, {})).toMatchObject(refusal(409, 'payment_not_identified'));
    expect(await identify(ours, 'ch_1')).toMatchObject(wrongField('payment_id'));
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    expect(await identify(ours, 'pay_other')).toMatchObject(refusal(409, 'payment_already_identified'));
    await refunded(paymentId, invoiceId);
    const audit = await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.identify');
    expect(audit.body.data.length).toBeGreaterThanOrEqual(3);
    // The id of one payment names no other, on any invoice.
    const other = await signedUp(false);
    const clash = await identify(other.ours, paymentId);
    expect(clash).toMatchObject(refusal(409, 'payment_id_taken'));
    expect(String(clash.body['message'])).toContain(ours);
  });

  it('a review item about a payment without a MoR id offers a refund only after the operator enters the id', async () => {
    const b = await begun(world);
    const { chargeId, paymentId } = await confirmed(world, b);
    await world.stripe.invoices.voidInvoice(b.invoiceId);
    expect((await complete(world, b, chargeId)).status).toBe(202);
    const item = async (): Promise<Json | undefined> =>
      (await world.list(`/v1/reviews?status=open&invoice_id=${b.invoiceId}`))[0];
    const found = await world.until('a person is asked', item, (r) => r !== undefined);
    expect(found).toMatchObject({ kind: 'invoice_not_payable', actions: ['retry', 'dismiss'], proposed: null });
    const path = `/v1/reviews/${String(found?.['id'])}`;
    expect(await world.api('POST', `${path}/resolve`, { resolution: 'refund' })).toMatchObject({
      status: 409,
      body: { code: 'payment_not_identified' },
    });
    expect((await identify(String(found?.['payment_id']), paymentId)).status).toBe(200);
    const named = await item();
    expect(named).toMatchObject({ actions: ['refund', 'retry', 'dismiss'], proposed: 'refund' });
    expect((await world.api('POST', `${path}/resolve`, { resolution: 'refund' })).status).toBe(200);
    await world.shows(`/v1/payments/${paymentId}`, (p) => p['amount_refunded'] === 2990);
  });

  it('Crossbill removes a payment id unknown to the MoR, and accepts the right payment id from the operator afterwards', async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect((await identify(ours, 'pay_mistyped')).status).toBe(200);
    expect(await refund(world, ours, { amount: 990 })).toMatchObject(refusal(404, 'payment_not_found'));
    expect((await identify(ours, paymentId)).status).toBe(200);
    await refunded(paymentId, invoiceId);
  });

  const paymentsOf = async (invoiceId: string, origin: string): Promise<Json[]> =>
    ((await world.invoice(invoiceId, 'paid'))['payments'] as Json[]).filter((p) => p['origin'] === origin);

  it('the operator enters the MoR id of a payment through a payment link, and refunds the payment', async () => {
    const invoiceId = await openInvoice(world);
    const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
    const made = await world.api('POST', `/v1/invoices/${invoiceId}/payment-link`, link);
    const paid = await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
    const paymentId = String((paid.body['payment'] as Json)['id']);
    const [payment] = await paymentsOf(invoiceId, 'payment_link');
    const ours = String(payment?.['id']);
    expect(await refund(world, ours, {})).toMatchObject(refusal(409, 'payment_not_identified'));
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    await refunded(paymentId, invoiceId);
    await world.shows(`/v1/invoices/${invoiceId}`, (r) => JSON.stringify(r['timeline']).includes('payment.refunded'));
    expect((await world.api('GET', `/v1/payments/${paymentId}`)).body['amount_refunded']).toBe(990);
  });

  it('the operator enters the MoR id of a payment by bank transfer, and refunds the payment', async () => {
    const invoiceId = await openInvoice(world);
    const made = await world.api('POST', `/v1/invoices/${invoiceId}/proforma`, PROFORMA);
    expect(made.status).toBe(201);
    await world.advance(60);
    await world.control('POST', `/proformas/${String(made.body['id'])}/settle`, {});
    const [payment] = await paymentsOf(invoiceId, 'proforma');
    const ours = String(payment?.['id']);
    expect(await refund(world, ours, {})).toMatchObject(refusal(409, 'payment_not_identified'));
    const paymentId = transferInPortal(world.sandbox, {
      invoiceId,
      customerId: String(payment?.['customer_id']),
      amount: 2990,
      currency: 'eur',
    });
    expect(await identify(ours, paymentId)).toMatchObject({ status: 200, body: { id: paymentId } });
    await refunded(paymentId, invoiceId);
  });

  it("the MoR's own payment id replaces a wrong id from the operator", async () => {
    const { ours, paymentId, invoiceId } = await signedUp(false);
    expect((await identify(ours, 'pay_misread')).status).toBe(200);
    await world.control('POST', '/mor/refunds', { payment_id: paymentId, amount: 990 });
    await untilSide(world, invoiceId, (side) => side.notes.length === 1);
    const payments = (await world.invoice(invoiceId, 'paid'))['payments'] as Json[];
    expect(payments.map((p) => [p['id'], p['amount_refunded']])).toEqual([[paymentId, 990]]);
  });

  it("if the operator entered the MoR id of another customer's payment, a refund opens one review item", async () => {
    const [ada, grace] = [await signedUp(false), await signedUp(false)];
    expect((await identify(ada.ours, grace.paymentId)).status).toBe(200);
    expect((await refund(world, ada.ours, { amount: 990 })).status).toBe(201);
    const path = '/v1/reviews?kind=conflicting_event';
    const { data } = await world.shows<{ data: { fact: Json }[] }>(path, (r) => r.data.length > 0);
    expect(data.map(({ fact }) => fact)).toMatchObject([{ code: 'payment-elsewhere', payment: grace.paymentId }]);
    await untilSide(world, ada.invoiceId, (side) => side.notes.length === 1);
    expect((await stripeSide(world, grace.invoiceId)).notes).toEqual([]);
    const parked = await world.api<{ data: Json[] }>('GET', '/v1/events?status=parked');
    expect(parked.body.data).toEqual([]);
  });
});

// Two invoices' payments name one charge: Crossbill books the charge once, and a person learns of both.
describe('One charge for two invoices', () => {
  const world = useWorld();

  it('when the MoR reports one charge for two invoices, Crossbill books the charge once and opens a `double_payment` review item', async () => {
    await deafMor(world);
    const first = newPaid();
    const second = { ...newPaid(), chargeId: first.chargeId };
    const invoices: string[] = [];
    for (const ids of [first, second]) {
      const s = await world.paidSubscriber();
      const invoiceId = await openRenewal(world, s);
      await tellSucceeded(world, ids, { customerId: s.customerId, invoiceId, amount: 2990 });
      if (ids === first) await world.invoice(invoiceId, 'paid');
      invoices.push(invoiceId);
    }
    const [paid = '', other = ''] = invoices;
    const [item] = await untilReviews(world, other, ['double_payment']);
    expect(item?.['fact']).toMatchObject({
      ...{ code: 'charge-elsewhere', payment: second.paymentId, charge: first.chargeId },
      ...{ holder: first.paymentId, holder_invoice: paid },
    });
    expect((await stripeSide(world, paid)).attached).toHaveLength(1);
    expect((await stripeSide(world, other)).attached).toEqual([]);
    expect((await world.stripe.invoices.retrieve(other)).status).toBe('open');
    const ledger = await world.api('GET', `/v1/ledger?invoice_id=${other}`);
    expect(ledger.body['data']).toEqual([]);

    // Verify names it too, on the unbooked invoice, until a person sets the payment aside.
    const named = async (): Promise<unknown[]> => {
      const { out } = await cli(['verify', '--json'], world.env);
      const report = JSON.parse(out) as Record<'differences', { kind: string }[]>;
      return report.differences.filter((d) => d.kind === 'charge_on_two_invoices');
    };
    const [line, ...more] = await named();
    expect(more).toEqual([]);
    expect(line).toMatchObject({
      invoice_id: other,
      payment_id: second.paymentId,
      object_id: first.chargeId,
      review_id: item?.['id'],
      detail: `Two payments name charge ${first.chargeId}: payment ${first.paymentId} of invoice ${paid} (mark: confirmed) and payment ${second.paymentId} of invoice ${other} (mark: parked).`,
    });
    // No refund and no mark is possible here: the item offers only to set it aside.
    expect(item?.['actions']).toEqual(['dismiss']);
    const retried = await resolve(world, item, 'retry');
    expect(retried).toMatchObject(refusal(409, 'resolution_not_available'));
    const settled = await resolve(world, item, 'dismiss');
    expect(settled.status).toBe(200);
    expect(await named()).toEqual([]);
  });
});

// The ledger names each thing by every known id, also by later ones.
describe('a row of the ledger', () => {
  const world = useWorld({ BILLING_DRAFT_POLICY: 'finalize' });

  const ledgerOf = async (invoiceId: string): Promise<Json[]> =>
    (await world.list(`/v1/ledger?invoice_id=${invoiceId}`)).reverse();

  it('a ledger row names each of customer, invoice, payment, charge, payment record, refund and credit note known to Crossbill', async () => {
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
    const entries = await world.until('the mirror is booked', () => ledgerOf(b.invoiceId), { length: 4 });
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

  it('the console shows all ids of a ledger row in a folded section', async () => {
    const [entry] = await world.list('/v1/ledger?reason=refund_paid');
    const visitor = await new Visitor(world.daemons[0]?.url ?? '').login(READ_KEY);
    const { status, text } = await visitor.get('/console/ledger?reason=refund_paid');
    expect([status, text]).toEqual([200, expect.stringContaining('<details class="ids">')]);
    for (const [name, id] of Object.entries(entry ?? {}).filter(([name]) => name.endsWith('_id')))
      expect([name, text]).toEqual([name, expect.stringContaining(String(id))]);
  });

  it("each ledger row carries the time of the MoR's booking", async () => {
    for (const entry of await world.list('/v1/ledger?reason=refund_paid')) {
      const found = await world.api('GET', `/v1/refunds/${String(entry['mor_refund_id'])}`);
      expect(entry['moved_at']).toBe(found.body['succeeded_at']);
    }
    for (const entry of await world.list('/v1/ledger?reason=payment_collected')) {
      const found = await world.api('GET', `/v1/payments/${String(entry['payment_id'])}`);
      expect(entry['moved_at']).toBe(found.body['succeeded_at']);
    }
  });
});

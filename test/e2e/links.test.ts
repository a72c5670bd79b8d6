// Payment links, the payment.captured event and files of the MoR, end to end.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { cli } from '../cli/rig.js';
import { eventNamed, openInvoice, reviewsOf, sendEvent, stripeStatus } from '../support/rigs/channels.js';
import { type Json, type Reply, useWorld, refusal } from '../support/rigs/world.js';
import { type Begun, begun, complete, confirmed } from './support/signups.js';
import { refund, stripeSide, paidRenewal, paidOnce } from './support/story.js';

// Payment links, end to end: made, paid, confirmed by reading, paid twice, refused; documents and e-invoices beside them.
describe('payment links', () => {
  const LINK = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };

  const world = useWorld();

  const make = (id: string, body: Json = LINK): Promise<Reply> =>
    world.api('POST', `/v1/invoices/${id}/payment-link`, body);
  const pay = (morId: unknown): Promise<Reply> => world.control('POST', `/payment-links/${String(morId)}/pay`, {});
  const linkPayments = (invoice: Json): Json[] =>
    (invoice['payments'] as Json[]).filter((p) => p['origin'] === 'payment_link');

  it('Crossbill confirms a payment by reading its payment link at the MoR, and marks the invoice paid', async () => {
    const id = await openInvoice(world);
    const made = await make(id);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ status: 'PAYABLE', pricedAmount: { amount: '29.90', currency: 'EUR' } });
    const morId = made.body['id'];
    expect((await make(id)).body['id']).toBe(morId);

    const paid = await pay(morId);
    const invoice = await world.invoice(id, 'paid');
    const [payment] = linkPayments(invoice);
    expect(payment).toMatchObject({ amount: 2990, currency: 'eur', mark: 'confirmed' });
    // The read of the link has no charge, so the charge comes with the MoR's event, before or after the mark.
    const charge = (paid.body['payment'] as Json)['psp_reference'];
    await world.shows(`/v1/invoices/${id}`, (r) => linkPayments(r)[0]?.['processor_charge_id'] === charge);
    const record = await world.stripe.paymentRecords.retrieve(String(payment?.['payment_record_id']));
    expect(JSON.stringify(record)).toContain(String(morId));
    expect(invoice['payment_links']).toMatchObject([{ id: morId, status: 'PAID' }]);
    expect(invoice['reviews']).toEqual([]);

    await world.advance(60);
    const document = await world.until(
      'the invoice file is there',
      () => world.api('GET', `/v1/payments/${String(payment?.['id'])}/document`),
      { status: 200 },
    );
    expect(String(document.body['url'])).toMatch(/^http/);
    expect(await make(id)).toMatchObject(refusal(409, 'invoice_not_payable'));
  });

  it('after payment.captured, Crossbill books the payment only when the payment link at the MoR shows the payment', async () => {
    const id = await openInvoice(world);
    const { body } = await make(id);
    const captured = { id: `evt_early_${id}`, type: 'payment.captured', created: '2026-11-20T10:00:00Z' };
    await sendEvent(world, { ...captured, data: { paymentLinkId: body['id'], status: 'CAPTURED' } });
    await world.shows(`/v1/invoices/${id}`, (r) =>
      JSON.stringify(r['timeline']).includes('Crossbill reads the link to confirm it'),
    );
    const before = await world.api('GET', `/v1/invoices/${id}`);
    expect(linkPayments(before.body)).toEqual([]);
    await pay(body['id']);
    await sendEvent(world, { ...captured, id: `evt_again_${id}`, data: { nested: [{ deep: body['id'] }] } });
    const paid = await world.invoice(id, 'paid');
    expect(linkPayments(paid)).toHaveLength(1);
    expect(await stripeStatus(world, id)).toBe('paid');
    const items = await world.until(
      'the item shows three events, the read and the payment in the books',
      () => reviewsOf(world, id, 'conflicting_event'),
      ([item]) => ((item?.['fact'] as Json | undefined)?.['observations'] as Json[] | undefined)?.length === 5,
    );
    expect(items.map((r) => r['status'])).toEqual(['open']);
    const reply = { resolution: 'dismiss', note: 'the MoR took one' };
    expect(await world.api('POST', `/v1/reviews/${String(items[0]?.['id'])}/resolve`, reply)).toMatchObject({
      status: 200,
    });
  });

  it('if a paid invoice has an open payment link, a review item warns, and Crossbill parks a second payment by the link', async () => {
    const s = await world.paidSubscriber();
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'decline' });
    const id = await world.renew(s.subscriptionId);
    await world.invoice(id, 'open');
    await world.advance(3_700);
    const { body } = await make(id);
    await world.control('POST', '/cards', { customer_id: s.customerId, outcome: 'succeed' });
    await world.control('POST', '/mor/retry', { invoice_id: id });
    await world.invoice(id, 'paid');
    const [warning] = await reviewsOf(world, id, 'double_payment');
    expect(warning).toMatchObject({ fact: { code: 'still-payable', what: 'payment_link' } });
    await pay(body['id']);
    const seen = await world.shows(`/v1/invoices/${id}`, (r) => linkPayments(r)[0]?.['mark'] === 'parked');
    const open = (seen['reviews'] as Json[]).filter((r) => r['status'] === 'open');
    expect(open).toMatchObject([{ kind: 'double_payment', payment_id: linkPayments(seen)[0]?.['id'] }]);
  });

  it('Crossbill makes a new payment link after the old one expires', async () => {
    const id = await openInvoice(world);
    const first = await make(id, { ...LINK, expires_in: 600 });
    await world.advance(601);
    const read = await world.api('GET', `/v1/invoices/${id}/payment-link`);
    expect(read.body).toMatchObject({ id: first.body['id'], status: 'EXPIRED' });
    const second = await make(id);
    expect(second.status).toBe(201);
    expect(second.body['id']).not.toBe(first.body['id']);
  });

  it("Crossbill makes one payment link for two simultaneous requests, even if the MoR's response is lost", async () => {
    const id = await openInvoice(world);
    await world.fault({ side: 'mor', path: '/api/payment-links', times: 1, action: 'drop_after' });
    await Promise.all([make(id), make(id)]);
    const made = await world.until('the link is made', () => make(id), { status: 201 });
    const log = await world.control('GET', '/requests?side=mor');
    const keys = (log.body['data'] as Json[])
      .filter(
        (r) => r['method'] === 'POST' && r['path'] === '/api/payment-links' && JSON.stringify(r).includes('crossbill'),
      )
      .map((r) => JSON.stringify(r).match(/crossbill:create_payment_link:[^"\\]*/)?.[0]);
    expect(new Set(keys.slice(-2)).size).toBe(1);
    await pay(made.body['id']);
    expect(linkPayments(await world.invoice(id, 'paid'))).toHaveLength(1);
  });

  it("Crossbill shows a paid invoice's e-invoice with fresh links from the MoR, and shows the e-invoice's cancellation", async () => {
    const id = await openInvoice(world);
    const { body } = await make(id, { ...LINK, jurisdiction: 'BR' });
    await pay(body['id']);
    await world.invoice(id, 'paid');
    await world.advance(60);
    const seen = await world.shows(`/v1/invoices/${id}`, (r) => (r['e_invoices'] as Json[]).length > 0);
    const [eInvoice] = seen['e_invoices'] as Json[];
    expect(eInvoice).toMatchObject({ status: 'ISSUED' });
    const fresh = await world.api('GET', `/v1/e-invoices/${String(eInvoice?.['id'])}`);
    expect(fresh.body).toMatchObject({ status: 'ISSUED', document: { pdfUrl: expect.any(String) } });
    await world.control('POST', `/e-invoices/${String(eInvoice?.['id'])}`, { status: 'CANCELLED' });
    await world.shows(`/v1/invoices/${id}`, (r) => (r['e_invoices'] as Json[])[0]?.['status'] === 'CANCELLED');
    expect((await world.api('GET', '/v1/e-invoices/none')).status).toBe(400);
    const explained = await cli(['explain', String(eInvoice?.['id'])], world.env);
    for (const line of [`E-invoice ${String(eInvoice?.['id'])}: CANCELLED`, 'E invoice issued', 'E invoice cancelled'])
      expect(explained.out).toContain(line);
  });

  it('the API answers 202 with Retry-After until the MoR has the document of a payment or a refund', async () => {
    const { paymentId } = await paidRenewal(world);
    const refunded = `/v1/refunds/${String((await refund(world, paymentId, { amount: 100 })).body['id'])}/document`;
    const early = await world.api('GET', refunded);
    expect(early).toMatchObject({ status: 202, body: { status: 'pending' } });
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);
    await world.advance(60);
    for (const path of [`/v1/payments/${paymentId}/document`, refunded]) {
      const ready = await world.api('GET', path);
      expect(ready).toMatchObject({ status: 200, body: { fileName: expect.stringMatching(/\.pdf$/) } });
      const file = await fetch(String(ready.body['url']));
      expect(file.status).toBe(200);
    }
    expect((await world.api('GET', '/v1/refunds/ref_none/document')).status).toBe(404);
    expect((await world.api('GET', '/v1/payments/pay_none/document')).status).toBe(404);
  });

  it('Crossbill changes nothing when payment.captured names the charge of a card payment that Crossbill already knows', async () => {
    const s = await world.subscriber();
    const event = {
      id: `evt_captured_${s.chargeId}`,
      type: 'payment.captured',
      created: '2026-11-20T10:00:00Z',
      data: { paymentId: '3f0c8a52-6a5e-4d3e-9b1a-0e6f5c7d8e90', pspReference: s.chargeId },
    };
    await sendEvent(world, event);
    const decided = await world.until('the event is decided', () => eventNamed(world, event.id), { status: 'done' });
    expect(decided?.['lane'] ?? s.firstInvoiceId).toBe(s.firstInvoiceId);
    const invoice = await world.invoice(s.firstInvoiceId, 'paid');
    expect(invoice['payments']).toHaveLength(1);
    expect(invoice['reviews']).toEqual([]);
  });

  it('a review item opens about an event with an unknown proforma invoice, payment link or e-invoice', async () => {
    const data = {
      proformaInvoiceId: 'b4b0a3a8-90a2-4f6c-8f5e-2f5a1f7b6c11',
      status: 'SETTLED',
      settledAt: '2026-11-20T10:00:00Z',
      total: { amount: '10.00', currency: 'EUR' },
      amountReceived: { amount: '10.00', currency: 'EUR' },
    };
    const created = '2026-11-20T10:00:00Z';
    await sendEvent(world, { id: 'evt_foreign_1', type: 'proforma_invoice.settled', created, data });
    await sendEvent(world, { id: 'evt_foreign_2', type: 'payment.captured', created, data: { paymentLinkId: 'none' } });
    await sendEvent(world, {
      id: 'evt_foreign_3',
      type: 'proforma_invoice.issued',
      created,
      data: { proformaInvoiceId: 'x' },
    });
    await sendEvent(world, { id: 'evt_foreign_4', type: 'e_invoice.issued', created, data: { eInvoiceId: 'y' } });
    for (const n of [1, 2, 3, 4]) {
      await world.until(`event ${n} is decided`, () => eventNamed(world, `evt_foreign_${n}`), { status: 'done' });
    }
    const { body } = await world.api('GET', '/v1/reviews?status=open&kind=conflicting_event');
    const facts = (body['data'] as { invoice_id?: string; fact: { code: string } }[])
      .filter((r) => r.invoice_id === undefined)
      .map((r) => r.fact)
      .sort((a, b) => a.code.localeCompare(b.code));
    expect(facts).toEqual([
      { code: 'unknown-capture', event: 'evt_foreign_2' },
      { code: 'unknown-e-invoice', event: 'evt_foreign_4', type: 'e_invoice.issued', e_invoice: 'y' },
      { code: 'unknown-proforma', event: 'evt_foreign_1', proforma: data.proformaInvoiceId },
    ]);
  });

  it('Crossbill closes the review item about payment.captured for an unknown charge after a signup records the charge', async () => {
    const chargeId = 'ch_captured_before_completion';
    const created = '2026-11-20T10:00:00Z';
    await sendEvent(world, { id: 'evt_before', type: 'payment.captured', created, data: { pspReference: chargeId } });
    const item = async (status: string): Promise<Json | undefined> => {
      const { body } = await world.api('GET', `/v1/reviews?status=${status}&kind=conflicting_event`);
      return (body['data'] as { fact: Json }[]).find(({ fact }) => fact['event'] === 'evt_before');
    };
    await world.until('a person is asked', () => item('open'), { status: 'open' });
    const id = await openInvoice(world);
    await world.query(
      `insert into payment (id, invoice_id, customer_id, origin, status, currency, mark, processor_charge_id, recorded_at)
       values ('pmt_x', $1, 'cus_x', 'signup', 'failed', 'EUR', 'closed', $2, now())`,
      [id, chargeId],
    );
    await world.query(`update lane set due_at = now() where key = 'mor:evt_before'`); // a minute passes
    await world.until('the item is closed', () => item('resolved'), { status: 'resolved' });
    await world.shows(`/v1/invoices/${id}`, (r) => JSON.stringify(r['timeline']).includes('payment.captured'));
  });
});

// `payment.captured` end to end: its charge and amount prove a signup, and it teaches the MoR's id of the payment.
describe('payment.captured', () => {
  const world = useWorld();
  beforeAll(async () => {
    // The other proof of a charge, the look-up, knows none of these charges yet.
    await world.fault({
      target: 'requests',
      side: 'mor',
      path: '/api/payments/invoice',
      times: 10_000,
      action: 'status',
      status: 404,
    });
  });

  async function confirmedSignup(): Promise<Begun & { chargeId: string; paymentId: string }> {
    const b = await begun(world);
    return { ...b, ...(await confirmed(world, b)) };
  }

  /** Sends the event and waits for its decision. */
  async function captured(id: string, data: Json): Promise<void> {
    await sendEvent(world, { id, type: 'payment.captured', created: new Date().toISOString(), data });
    await world.until(`${id} is decided`, () => eventNamed(world, id), { status: 'done' });
  }

  const amount = (text: string): Json => ({ amount: { amount: text, currency: 'EUR' } });
  const paymentsOf = async (invoiceId: string): Promise<Json[]> =>
    (await world.api('GET', `/v1/invoices/${invoiceId}`)).body['payments'] as Json[];

  it('a payment.captured event with the right charge and amount proves a signup once, and makes its payment refundable', async () => {
    const s = await confirmedSignup();
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    expect((await stripeSide(world, s.invoiceId)).status).toBe('open');
    const data = { pspReference: s.chargeId, payment: { reference: s.paymentId }, ...amount('29.90') };
    await captured(`evt_captured_${s.chargeId}`, data);
    await paidOnce(world, s.invoiceId);
    await captured(`evt_captured_again_${s.chargeId}`, data);
    await paidOnce(world, s.invoiceId);
    expect(await paymentsOf(s.invoiceId)).toMatchObject([{ id: s.paymentId, status: 'succeeded', amount: 2990 }]);
    const ledger = await world.api<{ data: Json[] }>('GET', `/v1/ledger?invoice_id=${s.invoiceId}`);
    expect(ledger.body.data.filter((e) => e['reason'] === 'payment_collected')).toHaveLength(1);
    expect(await refund(world, s.paymentId, { amount: 990 })).toMatchObject({ status: 201 });
  });

  it('a payment.captured event with a wrong amount is no proof of a signup, but gives the payment its MoR payment id', async () => {
    const s = await confirmedSignup();
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    await captured(`evt_other_amount_${s.chargeId}`, {
      pspReference: s.chargeId,
      payment: { reference: s.paymentId },
      ...amount('29.91'),
    });
    const [payment] = await world.until(
      'it has its name',
      () => paymentsOf(s.invoiceId),
      (list) => list[0]?.['id'] === s.paymentId,
    );
    expect(payment).toMatchObject({ status: 'processing', mark: 'proving' });
    const side = await stripeSide(world, s.invoiceId);
    expect([side.status, side.records]).toEqual(['open', []]);
  });

  it("when payment.captured arrives before the signup's completion, Crossbill marks the invoice paid after the completion", async () => {
    const s = await confirmedSignup();
    await sendEvent(world, {
      id: `evt_early_${s.chargeId}`,
      type: 'payment.captured',
      created: new Date().toISOString(),
      data: { pspReference: s.chargeId, payment: { reference: s.paymentId }, ...amount('29.90') },
    });
    expect((await complete(world, s, s.chargeId)).status).toBe(202);
    await paidOnce(world, s.invoiceId);
    expect(await paymentsOf(s.invoiceId)).toMatchObject([{ id: s.paymentId }]);
  });
});

// Bank transfers, end to end: proforma invoices made, issued, settled, in part, late, twice, and removed.
import { describe, expect, it } from '@jest/globals';
import { type Json, type Reply, useWorld, refusal } from '../support/rigs/world.js';
import { atMor, openInvoice, PROFORMA, reviewsOf, stripeStatus } from '../support/rigs/channels.js';
import { resolve } from './support/story.js';

describe('bank transfers', () => {
  const world = useWorld();

  const make = (id: string, body: Json = PROFORMA): Promise<Reply> =>
    world.api('POST', `/v1/invoices/${id}/proforma`, body);
  const settle = (morId: unknown, amount?: string): Promise<Reply> =>
    world.control('POST', `/proformas/${String(morId)}/settle`, amount === undefined ? {} : { amount });

  it('Crossbill makes a proforma invoice for the amount due, and marks the invoice paid after the bank transfer', async () => {
    const id = await openInvoice(world);
    const made = await make(id);
    expect(made.status).toBe(201);
    expect(made.body).toMatchObject({ status: 'PENDING_TAX_TRANSACTION', merchantReference: id });
    expect(String(made.body['number'])).toMatch(/^PF-GB-/);
    const morId = made.body['id'];

    const early = await world.api('GET', `/v1/invoices/${id}/proforma/document`);
    expect(early.status).toBe(202);
    expect(Number(early.headers.get('retry-after'))).toBeGreaterThan(0);

    await world.advance(60);
    await world.shows(`/v1/invoices/${id}`, (r) => (r['proformas'] as Json[])[0]?.['status'] === 'ISSUED');
    const read = await world.api('GET', `/v1/invoices/${id}/proforma`);
    expect(read.body).toMatchObject({ id: morId, status: 'ISSUED' });
    const document = await world.api('GET', `/v1/invoices/${id}/proforma/document`);
    expect(document.status).toBe(200);
    expect(String(document.body['url'])).toMatch(/^http/);

    await settle(morId);
    const paid = await world.invoice(id, 'paid');
    const payments = (paid['payments'] as Json[]).filter((p) => p['origin'] === 'proforma');
    expect(payments).toMatchObject([{ origin: 'proforma', amount: 2990, currency: 'eur', mark: 'confirmed' }]);
    expect(await stripeStatus(world, id)).toBe('paid');
    const record = await world.stripe.paymentRecords.retrieve(String(payments[0]?.['payment_record_id']));
    expect(JSON.stringify(record)).toContain(String(morId));
    expect(paid['timeline']).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ detail: expect.objectContaining({ type: 'proforma_invoice.settled' }) }),
      ]),
    );
    const late = await make(id);
    expect(late).toMatchObject(refusal(409, 'invoice_not_payable'));
  });

  it('Crossbill returns the same proforma invoice to two simultaneous requests and to a later request', async () => {
    const id = await openInvoice(world);
    const [a, b] = await Promise.all([make(id), make(id)]);
    const third = await make(id);
    expect([a.status, b.status, third.status]).toEqual([201, 201, 201]);
    expect(new Set([a.body['id'], b.body['id'], third.body['id']]).size).toBe(1);
    const all = await world.control('GET', '/proformas');
    expect((all.body['data'] as Json[]).filter((p) => p['merchantReference'] === id)).toHaveLength(1);
  });

  it('a bank transfer below the amount due opens a review item, and the invoice stays open after the operator applies the transfer', async () => {
    const id = await openInvoice(world);
    const { body } = await make(id);
    await world.advance(60);
    await settle(body['id'], '10.00');
    const [review] = await reviewsOf(world, id, 'partial_transfer');
    expect(review).toMatchObject({ fact: { code: 'transfer-short', missing: { amount: 1990, currency: 'eur' } } });
    expect(await stripeStatus(world, id)).toBe('open');
    const applied = await resolve(world, review, 'apply', 'the rest follows');
    expect(applied.status).toBe(200);
    await world.until('the part shows on Stripe', () => world.stripe.invoices.retrieve(id), { amount_remaining: 1990 });
    await world.invoice(id, 'open');
    expect(await stripeStatus(world, id)).toBe('open');
  });

  it('Crossbill shows why the MoR failed to issue a proforma invoice, and the next request makes a new one', async () => {
    const id = await openInvoice(world);
    const { body } = await make(id);
    await world.control('POST', `/proformas/${String(body['id'])}/fail`, { message: 'the VAT number is not known' });
    const seen = await world.shows(
      `/v1/invoices/${id}`,
      (r) => (r['proformas'] as Json[])[0]?.['status'] === 'ISSUANCE_FAILED',
    );
    expect(seen['proformas']).toMatchObject([{ issuanceFailure: { message: 'the VAT number is not known' } }]);
    const document = await world.api('GET', `/v1/invoices/${id}/proforma/document`);
    expect(document).toMatchObject(refusal(409, 'issuance_failed'));
    const again = await make(id);
    expect(again.status).toBe(201);
    expect(again.body['id']).not.toBe(body['id']);
  });

  it('Crossbill deletes a proforma invoice before the MoR issues it, and answers not_deletable afterwards', async () => {
    const id = await openInvoice(world);
    await make(id);
    expect((await world.api('DELETE', `/v1/invoices/${id}/proforma`)).status).toBe(204);
    expect((await world.api('DELETE', `/v1/invoices/${id}/proforma`)).status).toBe(204);
    expect((await world.api('GET', `/v1/invoices/${id}/proforma`)).status).toBe(404);
    const again = await make(id);
    expect(again.status).toBe(201);
    await world.advance(60);
    const refused = await world.api('DELETE', `/v1/invoices/${id}/proforma`);
    expect(refused).toMatchObject(refusal(409, 'not_deletable'));
  });

  it('Crossbill names the missing recipient fields of a proforma request before any request to the MoR', async () => {
    const id = await openInvoice(world);
    await world.control('DELETE', '/requests');
    const refused = await make(id, { jurisdiction: 'GB', due_date: '2099-12-31' });
    expect(refused.status).toBe(400);
    const fields = (refused.body['errors'] as Json[]).map((e) => e['field']);
    expect(fields).toEqual(expect.arrayContaining(['recipient.address.line1', 'recipient.address.country']));
    expect(fields).not.toContain('recipient.legalName');
    const log = await world.control('GET', '/requests?side=mor');
    const sent = (log.body['data'] as Json[]).filter((r) => r['method'] === 'POST');
    expect(sent.filter((r) => String(r['path']).includes('proforma-invoices'))).toEqual([]);
  });

  it("Crossbill takes over a proforma invoice if the MoR already has one with this invoice's id as merchant reference", async () => {
    const id = await openInvoice(world);
    const money = { amount: '29.90', currency: 'EUR' };
    const there = await atMor(world, '/api/proforma-invoices', {
      jurisdiction: 'GB',
      total: money,
      recipient: PROFORMA.recipient,
      provider: { providerName: 'Larch', providerCountry: 'GB' },
      lineItems: [{ description: 'Larch Pro', quantity: '1', unitPrice: money }],
      issueDate: '2026-11-20',
      dueDate: '2099-12-31',
      merchantReference: id,
    });
    const made = await make(id);
    expect(made).toMatchObject({ status: 201, body: { id: there['id'], merchantReference: id } });
    await world.advance(60);
    await settle(there['id']);
    await world.invoice(id, 'paid');
  });

  it('Crossbill makes a proforma invoice from a tax calculation, and the MoR accepts each calculation only once', async () => {
    const id = await openInvoice(world);
    const calculation = await atMor(world, '/api/tax/calculations', {
      currency: 'GBP',
      taxBehavior: 'INCLUSIVE',
      customer: {
        legalName: 'Ada Example Ltd',
        billingAddress: { line1: '1 High Street', city: 'London', postalCode: 'N1 1AA', country: 'GB' },
      },
      lineItems: [
        {
          merchantLineItemReference: '1',
          productCode: 'p',
          title: 'Larch Pro',
          unitPrice: 29.9,
          productType: 'DIGITAL',
        },
      ],
      evidence: { billingCountry: 'GB', ipAddress: '203.0.113.7' },
    });
    const body = { jurisdiction: 'GB', due_date: '2099-12-31', tax_calculation_id: calculation['taxCalculationId'] };
    const made = await make(id, body);
    expect(made).toMatchObject({ status: 201, body: { merchantReference: id } });
    const other = await openInvoice(world);
    expect(await make(other, body)).toMatchObject(refusal(422, 'tax_calculation_already_used'));
  });

  it.each([
    ['a lost response of the MoR', { action: 'drop_after' }],
    ['a 503 of the MoR', { action: 'status', status: 503 }],
  ])('a repeated proforma request makes one proforma invoice after %s', async (_what, fault) => {
    const id = await openInvoice(world);
    await world.fault({ side: 'mor', path: '/api/proforma-invoices', times: 100, ...fault });
    expect(await make(id)).toMatchObject(refusal(502, 'mor_unavailable'));
    await world.control('DELETE', '/faults');
    const made = await world.until('it is made', () => make(id), { status: 201 });
    const all = await world.control('GET', '/proformas');
    expect((all.body['data'] as Json[]).filter((p) => p['merchantReference'] === id)).toMatchObject([
      { id: made.body['id'] },
    ]);
  });
});

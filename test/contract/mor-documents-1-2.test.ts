// Documents 1 and 2 through the client against the sandbox: onboarding, tax, proforma invoices, links, webhooks.
import {
  Applications,
  CardIntents,
  Catalogue,
  EInvoices,
  encodeCatalogueProduct,
  encodeChooseProduct,
  encodeCreateMerchant,
  encodeCreateWebhook,
  encodeDeleteProforma,
  encodeDeleteWebhook,
  encodeDescribeBusiness,
  encodeInitiate,
  encodePaymentLink,
  encodeProforma,
  encodeProformaFromCalculation,
  encodeSubmit,
  encodeTaxCalculation,
  encodeTaxRefund,
  encodeTaxTransaction,
  Invoices,
  PartnerApi,
  PartnerMerchants,
  PaymentLinks,
  ProformaInvoices,
  type TaxCalculation,
  taxCalculationRequest,
  TaxCalculations,
  TaxTransactions,
  WebhookEndpoints,
} from '@crossbill/mor';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { aMorRig, failureOf, type MorRig, valueOf } from './mor-rig.js';

let rig: MorRig;
beforeEach(async () => {
  rig = await aMorRig();
});
afterEach(() => rig.close());

async function calculate(country = 'GB', currency = 'GBP'): Promise<TaxCalculation> {
  const checked = taxCalculationRequest.check({
    currency,
    customer: {
      legalName: 'Heron Ltd',
      email: 'a@heron.example',
      billingAddress: { line1: '1 Quay', city: 'Hull', state: 'NY', postalCode: 'HU1', country },
    },
    lineItems: [
      { merchantLineItemReference: 'l-1', productCode: 'guide', title: 'Guide', unitPrice: '10.00', quantity: 3 },
    ],
    evidence: { billingCountry: country, ipAddress: '192.0.2.1' },
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  return valueOf(await new TaxCalculations(rig.transport).send(encodeTaxCalculation(checked.value)));
}

const company = {
  legalName: 'Heron Ltd',
  website: 'https://heron.example',
  taxId: 'GB1',
  registrationNumber: '1',
  jurisdiction: 'GB',
  registeredAddress: { line1: '1', city: 'Hull', postalCode: 'HU1', country: 'GB' },
};

it("a merchant's onboarding goes through the MoR client from initiate to approval", async () => {
  const partner = new PartnerApi(rig.transport);
  const merchants = new PartnerMerchants(rig.transport);
  const applications = new Applications(rig.transport);
  expect(valueOf(await partner.whoami()).partnerId).toBeTruthy();
  expect(valueOf(await partner.regions()).length).toBeGreaterThan(0);
  const wire = encodeInitiate({ merchantReference: 'shop-1', productCode: 'tor', company });
  expect(valueOf(await partner.sendInitiate(wire))).toMatchObject({
    status: 'created',
    isExistingApplication: false,
  });
  expect(valueOf(await partner.sendInitiate(wire)).isExistingApplication).toBe(true);
  const merchantId = valueOf(await merchants.list()).find(({ reference }) => reference === 'shop-1')?.id ?? '';
  expect(valueOf(await merchants.read(merchantId)).company?.legalName).toBe('Heron Ltd');
  const early = failureOf(await applications.sendSubmit(encodeSubmit(merchantId)));
  expect([early.code, early.errors.length > 0]).toEqual(['incomplete_application', true]);
  valueOf(await applications.sendChooseProduct(encodeChooseProduct(merchantId, { code: 'tor', regions: ['GB'] })));
  const described = encodeDescribeBusiness(merchantId, {
    businessDescription: 'Guides',
    storeUrls: ['https://heron.example'],
  });
  expect(valueOf(await applications.sendDescribeBusiness(described)).currentlyDue).toEqual([]);
  expect(valueOf(await applications.sendSubmit(encodeSubmit(merchantId))).kind).toBe('submitted');
  expect(valueOf(await applications.sendSubmit(encodeSubmit(merchantId))).kind).toBe('already_submitted');
  expect(failureOf(await applications.sendDescribeBusiness(described))).toMatchObject({
    status: 409,
    code: 'invalid_status',
  });
  await rig.control(`/applications/${merchantId}/review`, { outcome: 'approved', message: 'Welcome' });
  expect(valueOf(await applications.read(merchantId))).toMatchObject({
    status: 'approved',
    reviewMessage: 'Welcome',
  });
});

it('the MoR client returns the existing merchant for a taken reference, and reports an invalid body as refused', async () => {
  const merchants = new PartnerMerchants(rig.transport);
  const made = valueOf(await merchants.sendCreate(encodeCreateMerchant('shop-2')));
  const again = valueOf(await merchants.sendCreate(encodeCreateMerchant('shop-2')));
  expect(made.kind === 'created' && again.kind === 'exists' && again.existingMerchantId === made.merchant.id).toBe(
    true,
  );
  const good = encodeInitiate({
    merchantReference: 'x',
    productCode: 'tor',
    company: { ...company, gmvTier: 'UP_TO_100K' },
  });
  const odd = { ...good, body: good.body?.replace('UP_TO_100K', 'HUGE') ?? null };
  const outcome = failureOf(await new PartnerApi(rig.transport).sendInitiate(odd));
  expect(outcome).toMatchObject({ kind: 'refused', status: 500, code: 'internal_error' });
  expect(failureOf(await merchants.read('..'))).toMatchObject({ status: 404 });
});

it('the MoR makes one transaction and one refund for a tax calculation, even if both requests come twice', async () => {
  const transactions = new TaxTransactions(rig.transport);
  const calculation = await calculate('US', 'USD');
  expect(calculation).toMatchObject({ currency: 'USD', subTotalAmount: '30.00' });
  const { taxCalculationId } = calculation;
  const commit = encodeTaxTransaction({
    taxCalculationId,
    merchantTransactionReference: 'in_1',
    payment: { processor: 'cardpsp', paymentReference: 'ch_1' },
  });
  const made = valueOf(await transactions.sendCreate(commit));
  expect(valueOf(await transactions.sendCreate(commit)).transactionId).toBe(made.transactionId);
  const clash = encodeTaxTransaction({ taxCalculationId, merchantTransactionReference: 'in_2' });
  const refused = failureOf(await transactions.sendCreate(clash));
  expect(refused.code).toBe('invalid_state');
  expect(refused.message).toContain('calculat');
  const page = valueOf(await transactions.list({ merchantTransactionReference: 'in_1', size: 1 }));
  expect(page.transactions.map((one) => one.transactionId)).toEqual([made.transactionId]);
  const line = made.lineItems[0]?.lineItemId ?? '';
  const refund = encodeTaxRefund(made.transactionId, {
    merchantRefundReference: 'r-1',
    refundLineItems: [{ lineItemId: line, refundLineItemReference: 'rl-1', refundReason: 'returned' }],
  });
  const given = valueOf(await transactions.sendRefund(refund));
  expect(valueOf(await transactions.sendRefund(refund)).refundTransactionId).toBe(given.refundTransactionId);
  expect(valueOf(await transactions.listRefunds(made.transactionId))).toHaveLength(1);
  expect(valueOf(await transactions.read(made.transactionId)).refunds).toHaveLength(1);
  expect(valueOf(await transactions.invoice(made.transactionId)).state).toMatch(/ready|pending/);
  expect(failureOf(await transactions.list({ size: 101 }))).toMatchObject({ code: 'invalid_argument' });
  expect(failureOf(await transactions.read('nope')).status).toBe(400);
});

it('the MoR refuses a tax calculation for an unsupported country, and imports a product', async () => {
  await expect(calculate('AQ')).rejects.toThrow('region_not_supported');
  const product = encodeCatalogueProduct({ productId: 'p', title: 't', requiresShipping: false, priceAmount: 9.5 });
  expect((await new Catalogue(rig.transport).sendImport(product)).ok).toBe(true);
});

it('the MoR accepts a setup intent with a tax calculation', async () => {
  const { taxCalculationId } = await calculate();
  const customer = { id: 'cus_1' };
  valueOf(await new CardIntents(rig.transport).setUp({ customer, taxCalculationId }, 'k'));
});

const direct = (merchantReference: string) =>
  encodeProforma({
    jurisdiction: 'GB',
    total: { amount: '10.00', currency: 'GBP' },
    recipient: {
      legalName: 'Heron Ltd',
      address: { line1: '1', locality: 'Hull', postalCode: 'HU1', country: 'GB' },
      taxIdentifiers: [{ type: 'GB_VAT', code: 'GB123456789', country: 'GB' }],
      contact: { email: 'a@heron.example' },
    },
    provider: { providerName: 'Heron', providerCountry: 'GB' },
    lineItems: [{ description: 'Guide', quantity: '1', unitPrice: { amount: '10.00', currency: 'GBP' } }],
    issueDate: '2026-11-20',
    dueDate: '2026-12-31',
    merchantReference,
  });

it('the MoR accepts, issues and settles a proforma invoice, and refuses a reference already in use', async () => {
  const proformas = new ProformaInvoices(rig.transport);
  const made = valueOf(await proformas.sendCreate(direct('in_1'), 'k-1'));
  if (made.kind !== 'accepted') throw new Error(made.kind);
  const { id } = made.invoice;
  expect(made).toMatchObject({
    retryAfterMs: 2_000,
    invoice: { status: 'PENDING_TAX_TRANSACTION', merchantReference: 'in_1' },
  });
  expect(made.location).toContain(id);
  const taken = valueOf(await proformas.sendCreate(direct('in_1'), 'k-2'));
  expect(taken).toEqual({ kind: 'reference_taken', existingProformaInvoiceId: id });
  expect(failureOf(await proformas.sendCreate(direct('in_9'), 'k-1'))).toMatchObject({
    code: 'idempotency_key_reused',
  });
  await rig.control('/clock', { advance_sec: 60 });
  expect(valueOf(await proformas.read(id)).status).toBe('ISSUED');
  const replay = valueOf(await proformas.sendCreate(direct('in_1'), 'k-1'));
  expect(replay).toMatchObject({ kind: 'accepted', invoice: { id, status: 'PENDING_TAX_TRANSACTION' } });
  expect(valueOf(await proformas.document(id))).toMatchObject({ state: 'ready' });
  expect(failureOf(await proformas.sendDelete(encodeDeleteProforma(id)))).toMatchObject({ code: 'not_deletable' });
  await rig.control(`/proformas/${id}/settle`);
  expect(valueOf(await proformas.read(id)).status).toBe('SETTLED');
});

it('the MoR deletes a proforma invoice not yet issued, and reports the reason for a failed issue', async () => {
  await rig.control('/issuance', { hold: true });
  const proformas = new ProformaInvoices(rig.transport);
  const made = valueOf(await proformas.sendCreate(direct('in_1'), 'k-1'));
  const id = made.kind === 'accepted' ? made.invoice.id : '';
  expect(valueOf(await proformas.document(id)).state).toBe('pending');
  expect(valueOf(await proformas.sendDelete(encodeDeleteProforma(id)))).toBeNull();
  expect(valueOf(await proformas.sendDelete(encodeDeleteProforma(id)))).toBeNull();
  expect(failureOf(await proformas.read(id))).toMatchObject({ status: 404, code: 'not_found' });
  const other = valueOf(await proformas.sendCreate(direct('in_1'), 'k-2'));
  const failing = other.kind === 'accepted' ? other.invoice.id : '';
  await rig.control(`/proformas/${failing}/fail`, { message: 'no rate' });
  expect(valueOf(await proformas.read(failing)).issuanceFailure).toMatchObject({
    code: 'proforma_tax_input_invalid',
  });
  expect(failureOf(await proformas.document(failing))).toMatchObject({ code: 'issuance_failed' });
});

it('the MoR makes one proforma invoice from a tax calculation, and refuses a second invoice from the same calculation', async () => {
  const proformas = new ProformaInvoices(rig.transport);
  const { taxCalculationId } = await calculate();
  const request = { taxCalculationId, jurisdiction: 'GB', dueDate: '2026-12-31' };
  valueOf(await proformas.sendCreate(encodeProformaFromCalculation(request), 'k-1'));
  const again = failureOf(await proformas.sendCreate(encodeProformaFromCalculation(request), 'k-2'));
  expect(again).toMatchObject({ kind: 'refused', code: 'tax_calculation_already_used' });
});

const link = (idempotencyKey: string) =>
  encodePaymentLink({
    jurisdiction: 'GB',
    amount: { minor: 2990n, currency: 'GBP' },
    returnUrl: 'https://heron.example/back',
    idempotencyKey,
  });

it('the MoR makes one payment link per key, and shows the link as PAID after its payment', async () => {
  const links = new PaymentLinks(rig.transport);
  const made = valueOf(await links.sendCreate(link('k')));
  expect(made).toMatchObject({ status: 'PAYABLE', pricedAmount: { minor: 2990n, currency: 'GBP' } });
  expect(valueOf(await links.sendCreate(link('k'))).paymentLinkId).toBe(made.paymentLinkId);
  await rig.control(`/payment-links/${made.paymentLinkId}/pay`);
  expect(valueOf(await links.read(made.paymentLinkId)).status).toBe('PAID');
  expect(failureOf(await links.read('3b1f0d52-6c1e-4d2a-9f57-2a4c7d1e8b90')).code).toBe('not_found');
});

it('the MoR shows the secret of a webhook endpoint only when it creates the endpoint', async () => {
  const webhooks = new WebhookEndpoints(rig.transport);
  const before = valueOf(await webhooks.list()).length;
  const wire = encodeCreateWebhook({ url: 'https://heron.example/h', events: ['payment.captured'] });
  const { endpoint, secret } = valueOf(await webhooks.sendCreate(wire));
  expect(secret?.reveal()).toBeTruthy();
  expect(valueOf(await webhooks.list())).toHaveLength(before + 1);
  expect(valueOf(await webhooks.sendDelete(encodeDeleteWebhook(endpoint.id)))).toBeNull();
  const odd = encodeCreateWebhook({ url: 'https://heron.example/h', events: ['no.such'] });
  expect(failureOf(await webhooks.sendCreate(odd)).code).toBe('unknown_event');
  expect(failureOf(await webhooks.sendDelete(encodeDeleteWebhook('wh_none'))).code).toBe('not_found');
});

it('an issued e-invoice of the MoR names the PDF and the proforma invoice of the e-invoice', async () => {
  const checked = taxCalculationRequest.check({
    currency: 'BRL',
    customer: {
      firstName: 'Ana',
      lastName: 'Lima',
      taxIdentifiers: [{ type: 'BR_CPF', code: '529.982.247-25' }],
      billingAddress: { line1: 'Rua 1', city: 'Recife', state: 'PE', postalCode: '50000-000', country: 'BR' },
    },
    lineItems: [{ merchantLineItemReference: 'l-1', productCode: 'guide', title: 'Guide', unitPrice: '10.00' }],
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.errors));
  const calculations = new TaxCalculations(rig.transport);
  const { taxCalculationId } = valueOf(await calculations.send(encodeTaxCalculation(checked.value)));
  const request = encodeProformaFromCalculation({ taxCalculationId, jurisdiction: 'BR', dueDate: '2030-12-31' });
  const made = valueOf(await new ProformaInvoices(rig.transport).sendCreate(request, 'k'));
  await rig.control('/clock', { advance_sec: 60 });
  const { data } = (await rig.control('/e-invoices', {}, 'GET')) as { data: { id: string }[] };
  const id = data[0]?.id ?? '';
  const eInvoices = new EInvoices(rig.transport);
  const read = valueOf(await eInvoices.read(id));
  expect(read).toMatchObject({ id, status: 'ISSUED', madeFor: { type: 'proforma_invoice' } });
  expect(made.kind === 'accepted' && made.invoice.id === read.madeFor?.id).toBe(true);
  expect(read.document?.pdfUrl).toMatch(/^https?:/);
});

it('the MoR client reports unknown invoices and e-invoices as refusals', async () => {
  const invoices = new Invoices(rig.transport);
  expect(failureOf(await invoices.ofRefundByReference('re_none')).status).toBe(404);
  expect(failureOf(await invoices.ofPayment('3b1f0d52-6c1e-4d2a-9f57-2a4c7d1e8b90')).status).toBe(404);
  expect(failureOf(await new EInvoices(rig.transport).read('nope')).code).toBe('invalid_argument');
  const none = await new EInvoices(rig.transport).read('3b1f0d52-6c1e-4d2a-9f57-2a4c7d1e8b90');
  expect(failureOf(none).code).toBe('not_found');
});

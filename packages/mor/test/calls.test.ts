// The client's calls: their addresses, their bytes, and the answers returned as values instead of errors.
import {
  Applications,
  decodeDetails,
  encodeChooseProduct,
  encodeCreateMerchant,
  encodeDeleteProforma,
  encodeDescribeBusiness,
  encodeInitiate,
  encodePaymentIntent,
  encodePaymentLink,
  encodeProformaFromCalculation,
  encodeRefund,
  encodeSetupIntent,
  encodeSubmit,
  Invoices,
  type MerchantCustomer,
  PartnerMerchants,
  PaymentLinks,
  ProformaInvoices,
  TaxTransactions,
  WebhookEndpoints,
} from '@crossbill/mor';
import { encodeJson, segment } from '@crossbill/mor/wire.js';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { aRig, json, type Rig } from './peer.js';

const wire = (name: string): unknown =>
  JSON.parse(readFileSync(new URL(`../../../test/wire/mor/${name}.json`, import.meta.url), 'utf8'));
const DATES = { taxCalculationId: 'c', jurisdiction: 'GB', dueDate: '2026-03-31' };

let rig: Rig;
beforeEach(async () => {
  rig = await aRig();
});
afterEach(() => rig.close());

it("the MoR client sends a payment intent's customer id in the card processor's field: cardpsp_id for the processor cardpsp", () => {
  const request = {
    amountMinor: 2990n,
    currency: 'EUR',
    customer: { id: 'cus_1', email: 'a@heron.example', country: 'DE', address: { line1: 'x', city: 'y' } },
    taxCalculationId: 'calc_1',
  };
  expect(encodePaymentIntent(request)).toEqual({
    method: 'POST',
    path: '/api/payments/cardpsp/payment-intents',
    body:
      '{"amount":2990,"currency":"EUR","merchant_customer":{"address":{"city":"y","line1":"x"},"cardpsp_id":"cus_1",' +
      '"country":"DE","email":"a@heron.example"},"tax_calculation_id":"calc_1"}',
  });
  expect(encodePaymentIntent(request, { psp: 'otherpsp' }).body).toContain('"otherpsp_id":"cus_1"');
  expect(() => encodePaymentIntent({ ...request, amountMinor: 0n })).toThrow(RangeError);
});

it("the MoR client sends a setup intent's customer in the same fields as a payment intent's customer", () => {
  expect(encodeSetupIntent({ customer: { id: 'cus_1' } })).toEqual({
    method: 'POST',
    path: '/api/payments/cardpsp/setup-intents',
    body: '{"merchant_customer":{"cardpsp_id":"cus_1"}}',
  });
  const customer = { id: 'cus_1', email: 'a@heron.example', name: 'Ada', country: 'DE', address: { line1: 'x' } };
  const request = { customer, paymentMethodTypes: ['sepa_debit'] };
  expect(encodeSetupIntent(request, { psp: 'otherpsp' }).body).toBe(
    '{"merchant_customer":{"address":{"line1":"x"},"country":"DE","email":"a@heron.example","name":"Ada",' +
      '"otherpsp_id":"cus_1"},"payment_method_types":["sepa_debit"]}',
  );
});

it("the MoR client reads the customer's details back from a stored signup request", () => {
  const details = { email: 'a@heron.example', name: 'Ada', country: 'DE', address: { line1: 'x', city: 'y' } };
  const stored = (customer: MerchantCustomer): string => encodeSetupIntent({ customer }).body ?? '';
  expect(decodeDetails(stored({ id: 'cus_1', ...details }))).toEqual(details);
  expect(decodeDetails(stored({ id: 'cus_1' }))).toEqual({});
  expect(decodeDetails('{}')).toEqual({});
});

it("with setupCustomer 'omit' the MoR client leaves the customer out of setup intents, not of payment intents", () => {
  const customer = { id: 'cus_1', email: 'a@heron.example' };
  expect(encodeSetupIntent({ customer }, { setupCustomer: 'omit' }).body).toBe('{}');
  const payment = { amountMinor: 2990n, currency: 'EUR', customer };
  expect(encodePaymentIntent(payment, { setupCustomer: 'omit' }).body).toContain('"cardpsp_id":"cus_1"');
});

it("the MoR client sends a payment link's amount as a decimal, and its idempotency key in the body", () => {
  const request = { jurisdiction: 'GB', returnUrl: 'https://heron.example/back', idempotencyKey: 'k' };
  const link = (minor: bigint, currency: string) => encodePaymentLink({ ...request, amount: { minor, currency } });
  expect(link(2990n, 'EUR').body).toBe(
    '{"amount":{"amount":"29.90","currency":"EUR"},"idempotencyKey":"k","jurisdiction":"GB","returnUrl":"https://heron.example/back"}',
  );
  expect(link(2990n, 'JPY').body).toContain('"amount":"2990"');
  for (const minor of [0n, -1n, 2n ** 53n]) expect(() => link(minor, 'EUR')).toThrow(RangeError);
});

it('the MoR client sends an amount with every refund, and refuses zero and amounts from 2^53 on', () => {
  const call = { paymentId: 'pay_1', amountMinor: 500n, reason: null, metadata: { b: 1, a: null } };
  expect(encodeRefund(call)).toEqual({
    method: 'POST',
    path: '/api/payments/pay_1/refund',
    body: '{"amount":500,"metadata":{"a":null,"b":1}}',
  });
  expect(() => encodeRefund({ ...call, amountMinor: 0n })).toThrow(RangeError);
  expect(() => encodeRefund({ ...call, amountMinor: 2n ** 53n })).toThrow(RangeError);
});

it('the MoR client encodes a request to the same bytes, whatever the order of its fields', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
      const turned = Object.fromEntries(Object.entries(value).reverse());
      expect(encodeJson(turned)).toBe(encodeJson(value));
      expect(JSON.parse(encodeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});

it('the MoR client escapes an id, so that no id leads to another route', () => {
  fc.assert(
    fc.property(fc.string({ minLength: 1, unit: 'binary' }), (id) => {
      const url = new URL(`http://x/api/payments/${segment(id)}/refund`);
      expect(url.pathname.split('/')).toHaveLength(5);
      expect(url.pathname.endsWith('/refund') && url.pathname.startsWith('/api/payments/')).toBe(true);
    }),
  );
  for (const id of ['..', '.', '../..', '%2e%2e', 'a/b', 'a?b', 'a#b']) {
    expect(new URL(`http://x/a/${segment(id)}/refund`).pathname.split('/')).toHaveLength(4);
  }
  expect(() => segment('')).toThrow(RangeError);
});

it('the MoR client starts an onboarding in the mode API, chooses one product, and submits the application without a body', () => {
  const company = {} as never;
  expect(encodeInitiate({ merchantReference: 'r', productCode: 'tor', company }).body).toContain('"mode":"API"');
  expect(encodeChooseProduct('m', { code: 'tor', regions: ['GB'] })).toEqual({
    method: 'PUT',
    path: '/partner/api/merchants/m/application',
    body: '{"products":[{"code":"tor","regions":["GB"]}]}',
  });
  expect(encodeDescribeBusiness('m', { storeUrls: ['x'] }).body).toBe('{"storeUrls":["x"]}');
  expect(encodeSubmit('m').body).toBeNull();
});

it('the MoR client returns the existing merchant if the MoR answers that the reference is taken', async () => {
  rig.peer.reply = json(409, { code: 'duplicate_reference', existingMerchantId: 'm-1' });
  const outcome = await new PartnerMerchants(rig.transport).sendCreate(encodeCreateMerchant('shop-1'));
  expect(outcome).toMatchObject({ ok: true, status: 409, value: { kind: 'exists', existingMerchantId: 'm-1' } });
  rig.peer.reply = json(409, { code: 'duplicate_reference' });
  expect(await new PartnerMerchants(rig.transport).sendCreate(encodeCreateMerchant('shop-1'))).toMatchObject({
    ok: false,
    kind: 'refused',
    code: 'duplicate_reference',
  });
});

it('the MoR client reports an application as already submitted if the MoR answers 409 invalid_status', async () => {
  const applications = new Applications(rig.transport);
  rig.peer.reply = json(409, { code: 'invalid_status', errors: [] });
  expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({ value: { kind: 'already_submitted' } });
  rig.peer.reply = json(400, { code: 'incomplete_application', errors: [{ field: 'checkoutUrl', message: 'due' }] });
  expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({
    ok: false,
    errors: [{ field: 'checkoutUrl' }],
  });
  rig.peer.reply = json(200, { ...(wire('application') as object), status: 'submitted' });
  expect(await applications.sendSubmit(encodeSubmit('m'))).toMatchObject({ value: { kind: 'submitted' } });
});

it('the MoR client returns the id of the existing proforma invoice if the reference is taken', async () => {
  const proformas = new ProformaInvoices(rig.transport);
  const request = encodeProformaFromCalculation(DATES);
  rig.peer.reply = json(422, { code: 'merchant_reference_conflict', errors: [], existingProformaInvoiceId: 'p-1' });
  expect(await proformas.sendCreate(request, 'k')).toMatchObject({
    value: { kind: 'reference_taken', existingProformaInvoiceId: 'p-1' },
  });
  const handle = { id: 'p-2', number: 'PF-2', status: 'PENDING_TAX_TRANSACTION', merchantReference: null };
  rig.peer.reply = json(202, handle, { location: '/api/proforma-invoices/p-2', 'retry-after': '2' });
  expect(await proformas.sendCreate(request, 'k')).toMatchObject({
    value: { kind: 'accepted', location: '/api/proforma-invoices/p-2', retryAfterMs: 2_000, invoice: { id: 'p-2' } },
  });
  expect(rig.peer.calls[1]?.headers['idempotency-key']).toBe('k');
  rig.peer.reply = json(422, { code: 'tax_calculation_expired' });
  expect(await proformas.sendCreate(request, 'k')).toMatchObject({ ok: false, kind: 'refused' });
});

it('the MoR client returns the waiting time for a file the MoR has not finished', async () => {
  const proformas = new ProformaInvoices(rig.transport);
  const invoices = new Invoices(rig.transport);
  const transactions = new TaxTransactions(rig.transport);
  rig.peer.reply = (_req, res) => res.writeHead(202, { 'retry-after': '3' }).end();
  for (const outcome of [
    await proformas.document('p'),
    await invoices.ofPayment('p'),
    await invoices.ofRefundByReference('re_1'),
    await transactions.invoice('t'),
  ]) {
    expect(outcome).toMatchObject({ ok: true, value: { state: 'pending', retryAfterMs: 3_000 } });
  }
  rig.peer.reply = json(200, wire('invoice-file'));
  expect(await invoices.ofPaymentByReference('ch_1&x=')).toMatchObject({ value: { state: 'ready' } });
  expect(rig.peer.calls.at(-1)?.path).toBe('/api/payments/invoice?psp_reference=ch_1%26x%3D');
  rig.peer.reply = json(409, { code: 'issuance_failed', errors: [] });
  expect(await proformas.document('p')).toMatchObject({ ok: false, kind: 'refused', code: 'issuance_failed' });
  rig.peer.reply = (_req, res) => res.writeHead(204).end();
  expect(await proformas.sendDelete(encodeDeleteProforma('p'))).toMatchObject({ ok: true, value: null });
});

it('the MoR client accepts only a 200 with an invoice as proof of a charge', async () => {
  const invoices = new Invoices(rig.transport);
  const asked: [number, unknown, unknown][] = [
    [200, wire('invoice-file'), 'charged'],
    [200, {}, undefined],
    [200, 'ok', undefined],
    [200, { invoice: null }, undefined],
    [202, {}, 'pending'],
    [404, {}, 'unknown'],
    [500, {}, undefined],
    [400, {}, undefined],
  ];
  for (const [status, body, known] of asked) {
    rig.peer.reply = json(status, body);
    const outcome = await invoices.lookUpCharge('ch_1');
    expect(outcome.ok ? outcome.value : undefined).toBe(known);
  }
});

it("the MoR client reports a charge as unknown if the MoR's answer about the charge has no body", async () => {
  rig.peer.reply = (_req, res) => res.writeHead(204).end();
  expect(await new Invoices(rig.transport).lookUpCharge('ch_1')).toMatchObject({ ok: false, kind: 'unknown' });
});

it('the MoR client requests the next page of a list with the cursor of the last page', async () => {
  const transactions = new TaxTransactions(rig.transport);
  rig.peer.reply = json(200, wire('tax-transactions'));
  const page = await transactions.list({ size: 1, merchantTransactionReference: 'in_1' });
  expect(page).toMatchObject({ ok: true, value: { nextCursor: 'bmV4dA' } });
  await transactions.list({ size: 1, cursor: 'bmV4dA' });
  expect(rig.peer.calls.map(({ path }) => path)).toEqual([
    '/api/tax/transactions?merchantTransactionReference=in_1&size=1',
    '/api/tax/transactions?size=1&cursor=bmV4dA',
  ]);
  rig.peer.reply = json(200, { transactions: [] });
  expect(await transactions.list()).toMatchObject({ value: { transactions: [], nextCursor: null } });
});

it("the MoR client requests payment links and webhook endpoints at the paths in Document 2 of the MoR's API", async () => {
  rig.peer.reply = json(200, wire('payment-link'));
  expect((await new PaymentLinks(rig.transport).read('l-1')).ok).toBe(true);
  rig.peer.reply = json(200, []);
  expect((await new WebhookEndpoints(rig.transport).list()).ok).toBe(true);
  expect(rig.peer.calls.map(({ path }) => path)).toEqual(['/api/payment-links/l-1', '/api/webhooks']);
});

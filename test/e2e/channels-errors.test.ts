// Every error code of Documents 1 and 2 as it reaches our caller, and every bad request before anything leaves the house.
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { adviceFor, type MorCallName } from '@crossbill/mor';
import { cliJson } from '../cli/rig.js';
import { openInvoice, PROFORMA } from '../support/rigs/channels.js';
import { company } from '../support/builders/company.js';
import { type Json, type Reply, startWorld, type World, refusal } from '../support/rigs/world.js';
import { paidRenewal } from './support/story.js';

const UUID = '00000000-0000-4000-8000-000000000000';
const address = { line1: '1 High Street', city: 'London', postalCode: 'N1 1AA', country: 'GB' };
const cart = {
  currency: 'GBP',
  customer: { legalName: 'Ada Example Ltd', billingAddress: address },
  lineItems: [{ merchantLineItemReference: '1', productCode: 'p', title: 'Larch Pro', unitPrice: 29.9 }],
  evidence: { billingCountry: 'GB', ipAddress: '203.0.113.7' },
};
const link = { jurisdiction: 'GB', return_url: 'https://shop.example/thanks' };
const merchant = { merchantReference: 'larch', productCode: 'tor', company };
const product = { code: 'tor', regions: ['GB'] };

let world: World;
/** One invoice with refusals for every request, and one with a proforma invoice and a link at the MoR. */
let bare: string;
let papers: string;
let proformaId: string;
let payment: string;
let refund: string;

beforeAll(async () => {
  world = await startWorld({ BILLING_DRAFT_POLICY: 'finalize' });
  await world.startDaemon();
  bare = await openInvoice(world);
  papers = await openInvoice(world);
  const made = await world.api('POST', `/v1/invoices/${papers}/proforma`, PROFORMA);
  proformaId = String(made.body['id']);
  await world.api('POST', `/v1/invoices/${papers}/payment-link`, link);
  payment = (await paidRenewal(world)).paymentId;
  const key = { 'idempotency-key': 'one' };
  refund = String((await world.api('POST', `/v1/payments/${payment}/refunds`, { amount: 100 }, key)).body['id']);
  await world.api('POST', '/v1/onboarding/merchants', merchant);
});
afterEach(async () => {
  await world.control('DELETE', '/faults');
});
afterAll(() => world.close());

type Asked = readonly [method: string, path: () => string, body?: unknown];
/** Our request, the MoR's call and path behind it, and the MoR's possible answers. */
type Row = readonly [asked: Asked, call: MorCallName, mor: string, outcomes: string];

const ROWS: readonly Row[] = [
  [
    ['POST', () => '/v1/tax/calculations', cart],
    'tax.calculate',
    'POST /api/tax/calculations',
    '400:invalid_argument 400:missing_country_of_origin 400:missing_classification_text 400:shipping_address_required ' +
      '400:invalid_state 401: 409:region_not_activated 409:region_not_supported 409:physical_goods_not_supported ' +
      '409:integration_credentials_invalid 409:integration_not_configured 422:nfse_validation_failed 502:tax_provider_unavailable',
  ],
  [
    ['POST', () => '/v1/tax/transactions', { taxCalculationId: UUID, merchantTransactionReference: 'r' }],
    'tax.transaction.create',
    'POST /api/tax/transactions',
    '400:invalid_argument 400:invalid_state 401: 404:not_found',
  ],
  [
    ['GET', () => '/v1/tax/transactions'],
    'tax.transaction.list',
    'GET /api/tax/transactions',
    '400:invalid_argument 401:',
  ],
  [
    ['GET', () => `/v1/tax/transactions/${UUID}`],
    'tax.transaction.read',
    'GET /api/tax/transactions',
    '400:invalid_argument 401: 404:not_found',
  ],
  [
    ['GET', () => `/v1/tax/transactions/${UUID}/refunds`],
    'tax.refund.list',
    'GET /api/tax/transactions',
    '400:invalid_argument 401: 404:not_found',
  ],
  [
    [
      'POST',
      () => `/v1/tax/transactions/${UUID}/refunds`,
      {
        merchantRefundReference: 'r',
        refundLineItems: [{ lineItemId: UUID, refundLineItemReference: 'l', refundReason: 'returned' }],
      },
    ],
    'tax.refund.create',
    'POST /api/tax/transactions',
    '400:invalid_argument 400:invalid_state 401: 404:not_found',
  ],
  [
    ['GET', () => `/v1/tax/transactions/${UUID}/invoice`],
    'tax.transaction.invoice',
    'GET /api/tax/transactions',
    '400:invalid_argument 401: 404:not_found',
  ],
  [
    ['POST', () => '/v1/catalogue/products', { productId: 'p', title: 'Larch', requiresShipping: false }],
    'catalogue.import',
    'POST /api/catalogue/products',
    '400:invalid_argument 401:',
  ],
  [
    ['POST', () => `/v1/invoices/${bare}/proforma`, PROFORMA],
    'proforma.create',
    'POST /api/proforma-invoices',
    '400:invalid_argument 422:unsupported_jurisdiction 422:idempotency_key_reused',
  ],
  [
    [
      'POST',
      () => `/v1/invoices/${bare}/proforma`,
      { jurisdiction: 'GB', due_date: '2099-12-31', tax_calculation_id: UUID },
    ],
    'proforma.from_calculation',
    'POST /api/proforma-invoices/from-tax-calculation',
    '400:invalid_argument 404:not_found 422:tax_calculation_already_used 422:tax_calculation_expired ' +
      '422:tax_calculation_unusable 422:unsupported_jurisdiction 422:no_payment_destination 422:nfse_validation_failed ' +
      '422:idempotency_key_reused',
  ],
  [
    ['GET', () => `/v1/invoices/${papers}/proforma`],
    'proforma.read',
    'GET /api/proforma-invoices',
    '400:invalid_argument 401:',
  ],
  [
    ['GET', () => `/v1/invoices/${papers}/proforma/document`],
    'proforma.document',
    'GET /api/proforma-invoices',
    '401: 404:not_found 409:issuance_failed',
  ],
  [
    ['DELETE', () => `/v1/invoices/${papers}/proforma`],
    'proforma.delete',
    'DELETE /api/proforma-invoices',
    '400:invalid_argument 401: 409:not_deletable',
  ],
  [
    ['POST', () => `/v1/invoices/${bare}/payment-link`, link],
    'payment_link.create',
    'POST /api/payment-links',
    '400:validation_error 409:no_active_arrangement 409:unsupported_outpost_role',
  ],
  [['GET', () => `/v1/invoices/${papers}/payment-link`], 'payment_link.read', 'GET /api/payment-links', '401:'],
  [
    ['GET', () => `/v1/payments/${payment}/document`],
    'invoice.read',
    'GET /api/payments/invoice',
    '401: 404:not_found',
  ],
  [['GET', () => `/v1/refunds/${refund}/document`], 'invoice.read', 'GET /api/refunds/invoice', '401: 404:not_found'],
  [
    ['GET', () => `/v1/e-invoices/${UUID}`],
    'e_invoice.read',
    'GET /api/e-invoices',
    '400:invalid_argument 401: 404:not_found',
  ],
  [
    ['POST', () => '/v1/mor/webhooks', { url: 'https://hooks.example/x', events: ['dispute.outcome'] }],
    'webhook.create',
    'POST /api/webhooks',
    '400:unknown_event 400:invalid_url 401: 409:webhook_endpoint_limit_exceeded',
  ],
  [['GET', () => '/v1/mor/webhooks'], 'webhook.list', 'GET /api/webhooks', '401:'],
  [['DELETE', () => '/v1/mor/webhooks/wh_1'], 'webhook.delete', 'DELETE /api/webhooks', '401: 404:not_found'],
  [['GET', () => '/v1/onboarding/regions'], 'partner.regions', 'GET /partner/api/regions', '401:'],
  [
    ['POST', () => '/v1/onboarding/merchants', { ...merchant, merchantReference: 'birch' }],
    'onboarding.initiate',
    'POST /partner/api/onboarding/initiate',
    '400:invalid_argument 401: 500:internal_error',
  ],
  [
    ['PUT', () => '/v1/onboarding/merchants/larch/product', product],
    'application.put',
    'PUT /partner/api/merchants',
    '400:validation_error 401: 404:not_found 409:invalid_status',
  ],
  [
    ['PATCH', () => '/v1/onboarding/merchants/larch/business', { category: 'trees' }],
    'application.patch',
    'PATCH /partner/api/merchants',
    '400:validation_error 401: 404:not_found 409:invalid_status',
  ],
  [
    ['POST', () => '/v1/onboarding/merchants/larch/submit'],
    'application.submit',
    'POST /partner/api/merchants',
    '400:incomplete_application 401: 404:not_found',
  ],
];

const CASES = ROWS.flatMap(([asked, call, mor, outcomes]) =>
  outcomes.split(' ').map((outcome) => {
    const [status = '', code = ''] = outcome.split(':');
    return [
      `${status} ${code} to ${call}`.replace('  ', ' '),
      { asked, call, mor, status: Number(status), code },
    ] as const;
  }),
);

/** Our caller's view: refusals keep status and code; bad credentials and the MoR's trouble are 502. */
function expected(status: number, code: string): { status: number; code: string } {
  if (status === 401) return { status: 502, code: 'mor_unauthorized' };
  return status >= 500 ? { status: 502, code: 'mor_unavailable' } : { status, code };
}

describe('an error of the MoR reaches the caller with its code and a remedy', () => {
  it.each(CASES)(
    'when the MoR answers %s, Crossbill returns the code and a remedy to the caller',
    async (_, { asked, call, mor, status, code }) => {
      const [method, path] = mor.split(' ');
      const [ours, where, body] = asked;
      const said = { field: 'somewhere', message: 'is not right' };
      const reply = code === '' ? {} : { code, errors: [said] };
      await world.fault({
        side: 'mor',
        method,
        path,
        times: 4,
        action: 'status',
        status,
        body: reply,
      });
      const seen = await world.api(ours, where(), body);
      const want = expected(status, code);
      expect(seen).toMatchObject({ status: want.status, body: { code: want.code } });
      const message = String(seen.body['message']);
      expect(message.length).toBeGreaterThan(20);
      if (want.status === 502) return;
      expect(seen.body['errors']).toEqual([said]);
      if (call !== 'catalogue.import') expect(message).toContain(adviceFor(call, status, code));
    },
  );

  it('Crossbill answers 404 to a read of a payment link or proforma invoice the MoR refused to make, and of a proforma invoice unknown to the MoR', async () => {
    for (const kind of ['proforma', 'payment-link']) {
      expect((await world.api('GET', `/v1/invoices/${bare}/${kind}`)).status).toBe(404);
    }
    await world.fault({
      side: 'mor',
      path: `/api/proforma-invoices/${proformaId}`,
      action: 'status',
      status: 404,
      body: { code: 'not_found', errors: [] },
    });
    expect(await world.api('GET', `/v1/invoices/${papers}/proforma`)).toMatchObject(refusal(404, 'not_found'));
  });

  it("Crossbill answers 502 when the MoR rejects its credentials, and shows the 401 in the invoice's timeline", async () => {
    const id = await openInvoice(world);
    const fault = { side: 'mor', method: 'POST', path: '/api/payment-links', times: 2, action: 'status', status: 401 };
    await world.fault(fault);
    const silent = await world.api('POST', `/v1/invoices/${id}/payment-link`, link);
    expect(silent).toMatchObject(refusal(502, 'mor_unavailable'));
    const seen = await world.api('GET', `/v1/invoices/${id}`);
    expect(JSON.stringify(seen.body['timeline'])).toContain('401');
  });
});

/** A bad request and the fields in the answer. */
type Bad = readonly [asked: Asked, ...fields: string[]];
const toProforma = (over: Json): Asked => ['POST', () => `/v1/invoices/${bare}/proforma`, { ...PROFORMA, ...over }];
const toLink = (over: Json): Asked => ['POST', () => `/v1/invoices/${bare}/payment-link`, { ...link, ...over }];
const toCart = (over: Json): Asked => ['POST', () => '/v1/tax/calculations', { ...cart, ...over }];
const toMerchant = (over: Json): Asked => ['POST', () => '/v1/onboarding/merchants', { ...merchant, ...over }];
const toWebhook = (body: Json): Asked => ['POST', () => '/v1/mor/webhooks', body];
const toTax = (path: string, body: Json): Asked => ['POST', () => `/v1/tax/transactions${path}`, body];

const BAD: readonly Bad[] = [
  [['POST', () => `/v1/invoices/${bare}/proforma`, {}], 'jurisdiction', 'due_date'],
  [toProforma({ jurisdiction: 'gb' }), 'jurisdiction'],
  [toProforma({ due_date: '2026-02-30' }), 'due_date'],
  [toProforma({ issue_date: 'today' }), 'issue_date'],
  [toProforma({ provider: 'Larch' }), 'provider'],
  [toProforma({ provider: { providerName: 'Larch', providerCountry: 'GBR' } }), 'provider.providerCountry'],
  [toProforma({ recipient: [] }), 'recipient'],
  [toProforma({ recipient: { ...PROFORMA.recipient, contact: {} } }), 'recipient.contact.email'],
  [
    toProforma({ recipient: { ...PROFORMA.recipient, taxIdentifiers: [{ type: 'GB_VAT' }] } }),
    'recipient.taxIdentifiers[0].code',
  ],
  [toProforma({ tax_calculation_id: 'x' }), 'tax_calculation_id'],
  [toProforma({ notices: [' '] }), 'notices'],
  [toProforma({ surprise: 1 }), 'surprise'],
  [['POST', () => `/v1/invoices/${bare}/payment-link`, {}], 'jurisdiction', 'return_url'],
  [toLink({ jurisdiction: 'GBR' }), 'jurisdiction'],
  [toLink({ return_url: 5 }), 'return_url'],
  [toLink({ expires_in: 1.5 }), 'expires_in'],
  [toLink({ expires_in: '600' }), 'expires_in'],
  [toLink({ amount: 5 }), 'amount'],
  [toCart({ currency: undefined }), 'currency'],
  [toCart({ currency: 'euro' }), 'currency'],
  [toCart({ lineItems: [] }), 'lineItems'],
  [toCart({ surprise: 1 }), 'surprise'],
  [toCart({ customer: undefined }), 'customer'],
  [
    toCart({ customer: { billingAddress: { ...address, postalCode: undefined } } }),
    'customer.billingAddress.postalCode',
  ],
  [toCart({ lineItems: [{ ...cart.lineItems[0], quantity: 0 }] }), 'lineItems[0].quantity'],
  [toCart({ lineItems: [{ ...cart.lineItems[0], unitPrice: -1 }] }), 'lineItems[0].unitPrice'],
  [toTax('', {}), 'taxCalculationId', 'merchantTransactionReference'],
  [toTax('', { taxCalculationId: 'x', merchantTransactionReference: 'r' }), 'taxCalculationId'],
  [toTax(`/${UUID}/refunds`, {}), 'merchantRefundReference', 'refundLineItems'],
  [toTax(`/${UUID}/refunds`, { merchantRefundReference: 'r', refundLineItems: [{}] }), 'refundLineItems[0].lineItemId'],
  [['GET', () => '/v1/tax/transactions?size=0'], 'size'],
  [['POST', () => '/v1/catalogue/products', {}], 'productId', 'title', 'requiresShipping'],
  [toWebhook({ events: ['dispute.outcome'] }), 'url'],
  [['POST', () => '/v1/onboarding/merchants', {}], 'merchantReference', 'productCode', 'company'],
  [toMerchant({ merchantReference: ' ' }), 'merchantReference'],
  [toMerchant({ mode: 'HOSTED' }), 'mode'],
  [toMerchant({ company: { ...company, taxId: ' ' } }), 'company.taxId'],
  [toMerchant({ company: { ...company, registeredAddress: { line1: '1' } } }), 'company.registeredAddress.city'],
  [toMerchant({ company: { ...company, gmvTier: 'HUGE' } }), 'company.gmvTier'],
  [['PUT', () => '/v1/onboarding/merchants/larch/product', {}], 'code', 'regions'],
  [['PUT', () => '/v1/onboarding/merchants/larch/product', { code: 'tor', regions: [] }], 'regions'],
  [['PATCH', () => '/v1/onboarding/merchants/larch/business', { storeUrls: 'x' }], 'storeUrls'],
  [['PATCH', () => '/v1/onboarding/merchants/larch/business', { businessDescription: 5 }], 'businessDescription'],
  [['GET', () => '/v1/onboarding/merchants?limit=0'], 'limit'],
  [['GET', () => '/v1/reviews?order=kind'], 'order'],
  [['GET', () => '/v1/reviews?order=due&cursor=5'], 'cursor'],
  [['POST', () => '/v1/reviews/rev_1/resolve', { resolution: 'forget' }], 'resolution'],
];

it("Crossbill answers 400 with the field's name to each malformed API request, and sends nothing to the MoR", async () => {
  await world.control('DELETE', '/requests');
  for (const [[method, path, body], ...fields] of BAD) {
    const reply: Reply = await world.api(method, path(), body);
    const named = ((reply.body['errors'] ?? []) as Json[]).map((e) => String(e['field']));
    expect([path(), fields, reply.status]).toEqual([path(), fields, 400]);
    for (const field of fields) expect([path(), named]).toEqual([path(), expect.arrayContaining([field])]);
  }
  const log = await world.control('GET', '/requests?side=mor');
  const reached = (log.body['data'] as Json[]).filter((r) => r['path'] !== '/oauth2/token');
  expect(reached.map((r) => `${String(r['method'])} ${String(r['path'])}`)).toEqual([]);
});

it("if the MoR's tax integration is broken, the metrics count the MoR's error code and `crossbill doctor` names the remedy", async () => {
  const fault = { side: 'mor', path: '/api/tax/calculations', action: 'status', status: 409 };
  await world.fault({ ...fault, body: { code: 'integration_credentials_invalid', errors: [] } });
  const signup = { kind: 'payment', customer: { id: 'cus_1' }, amount: 2990, currency: 'gbp', tax: cart };
  const refused = await world.api('POST', '/v1/signups', signup);
  expect(refused).toMatchObject(refusal(409, 'integration_credentials_invalid'));
  const metrics = await (await fetch(`${world.daemons[0]?.url ?? ''}/metrics`)).text();
  expect(metrics).toMatch(
    /crossbill_mor_refusals_total\{call="tax.calculate",code="integration_credentials_invalid"\} [1-9]/,
  );
  const { body } = await cliJson<{ checks: Json[] }>(['doctor'], world.env);
  expect(body.checks).toContainEqual(
    expect.objectContaining({
      name: 'tax integration at the MoR',
      state: 'fail',
      todo: expect.stringContaining('Ask the MoR'),
    }),
  );
});

it("Crossbill refuses to refund a payment through a payment link until the operator enters the payment's MoR id", async () => {
  const id = await openInvoice(world);
  const made = await world.api('POST', `/v1/invoices/${id}/payment-link`, link);
  await world.control('POST', `/payment-links/${String(made.body['id'])}/pay`, {});
  const paid = await world.invoice(id, 'paid');
  const byLink = (paid['payments'] as Json[]).find((p) => p['origin'] === 'payment_link');
  const path = `/v1/payments/${String(byLink?.['id'])}/refunds`;
  const refused = await world.api('POST', path, { amount: 100 }, { 'idempotency-key': 'link-1' });
  expect(refused).toMatchObject(refusal(409, 'payment_not_identified'));
  expect(refused.body['message']).toContain('/identify');
});

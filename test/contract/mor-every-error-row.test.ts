// Every error row of Documents 1, 2 and 3 from the client's side: kind and code tell it apart, and the guide names the
// remedy.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { type FailureKind } from '../../src/shared/domain/ports/call.js';
import { adviceFor, type MorCallName } from '@crossbill/mor';
import { rows } from '../../packages/sandbox/test/mor/rows.js';
import { aRig, json, type Rig } from '../unit/mor-peer.js';

const merchant = '/partner/api/merchants/:merchantId';
const transaction = '/api/tax/transactions/:transaction_id';
const CALLS: Readonly<Record<string, MorCallName>> = {
  'GET /partner/api/whoami': 'partner.whoami',
  'GET /partner/api/regions': 'partner.regions',
  'POST /partner/api/onboarding/initiate': 'onboarding.initiate',
  'GET /partner/api/merchants': 'merchant.list',
  'POST /partner/api/merchants': 'merchant.create',
  [`GET ${merchant}`]: 'merchant.read',
  [`GET ${merchant}/application`]: 'application.read',
  [`PUT ${merchant}/application`]: 'application.put',
  [`PATCH ${merchant}/application`]: 'application.patch',
  [`POST ${merchant}/application/submit`]: 'application.submit',
  'POST /api/tax/calculations': 'tax.calculate',
  'POST /api/tax/transactions': 'tax.transaction.create',
  'GET /api/tax/transactions': 'tax.transaction.list',
  [`GET ${transaction}`]: 'tax.transaction.read',
  [`GET ${transaction}/refunds`]: 'tax.refund.list',
  [`POST ${transaction}/refunds`]: 'tax.refund.create',
  [`GET ${transaction}/invoice`]: 'tax.transaction.invoice',
  'POST /api/catalogue/products': 'catalogue.import',
  'POST /api/proforma-invoices': 'proforma.create',
  'POST /api/proforma-invoices/from-tax-calculation': 'proforma.from_calculation',
  'GET /api/proforma-invoices/:id': 'proforma.read',
  'GET /api/proforma-invoices/:id/document': 'proforma.document',
  'DELETE /api/proforma-invoices/:id': 'proforma.delete',
  'GET /api/e-invoices/:id': 'e_invoice.read',
  'GET /api/payments/:paymentId/invoice': 'invoice.read',
  'GET /api/payments/invoice': 'invoice.read',
  'GET /api/refunds/:refundId/invoice': 'invoice.read',
  'GET /api/refunds/invoice': 'invoice.read',
  'POST /api/payment-links': 'payment_link.create',
  'GET /api/payment-links/:id': 'payment_link.read',
  'POST /api/webhooks': 'webhook.create',
  'GET /api/webhooks': 'webhook.list',
  'DELETE /api/webhooks/:webhookId': 'webhook.delete',
};

/** Document 3, "Errors". */
const INTENT_ROWS =
  '400:invalid_request 401 403:merchant_suspended 404:tax_calculation_not_found 409:idempotency_conflict 429:rate_limited 503:psp_unavailable';
const DOCUMENT_3: readonly (readonly [MorCallName, string])[] = [
  ['setup_intent.create', `${INTENT_ROWS} 422:validation_error`],
  ['payment_intent.create', `${INTENT_ROWS} 422:unsupported_currency 422:amount_out_of_range`],
  ['refund.create', '400:invalid_request 401 404:payment_not_found 422:payment_not_refundable'],
];

type Case = {
  readonly call: MorCallName | undefined;
  readonly where: string;
  readonly status: number;
  readonly code: string;
};

const cases: readonly Case[] = [
  ...rows
    .filter((row) => row.status >= 400)
    .map((row) => ({ call: CALLS[row.endpoint], where: row.endpoint, status: row.status, code: row.code })),
  ...DOCUMENT_3.flatMap(([call, list]) =>
    list.split(' ').map((one) => ({ call, where: call, status: Number(one.slice(0, 3)), code: one.slice(4) })),
  ),
];

/** The documents on a failure: a few pass alone, credentials need a person, the rest is final. */
function kindOf(example: Case): FailureKind {
  if (example.status === 401 || example.status === 403) return 'stopped';
  const passing = ['rate_limited', 'psp_unavailable', 'tax_provider_unavailable'];
  return passing.includes(example.code) ? 'retry' : 'refused';
}

describe('the MoR client and documented errors', () => {
  let rig: Rig & { close: () => Promise<void> };
  beforeAll(async () => {
    rig = await aRig();
  });
  afterAll(() => rig.close());

  it.each(cases.map((c) => [`${c.where} ${c.status} ${c.code}`, c] as const))(
    'the MoR client reports the documented error %s with the right kind, status and code',
    async (_name, c) => {
      if (c.call === undefined) throw new Error(`no call of the client stands for ${c.where}`);
      const field = { field: 'lineItems[0].countryOfOrigin', message: 'is missing' };
      rig.peer.reply = json(c.status, c.code === '' ? {} : { code: c.code, errors: [field] });
      const as = /^(partner|onboarding|merchant|application)\./.test(c.call) ? 'partner' : 'merchant';
      const outcome = await rig.transport.call(
        { method: 'POST', path: '/x', body: '{}' },
        { name: c.call, as, key: 'k', accept: () => null },
      );
      if (outcome.ok) throw new Error('an error was taken for an answer');
      expect([outcome.kind, outcome.status, outcome.code ?? '']).toEqual([kindOf(c), c.status, c.code]);
      if (c.code !== '') expect(outcome.errors).toEqual([field]);
    },
  );

  it("the error guide has advice for each error code in the MoR's documents", () => {
    const without = cases.filter(
      (c) =>
        c.call !== undefined &&
        c.call !== 'catalogue.import' && // Document 2 shows no errors of it: the sandbox's own choice
        c.code !== '' &&
        adviceFor(c.call, c.status, c.code) === null &&
        adviceFor(c.call, c.status, c.code, ['taxCalculationId']) === null,
    );
    expect(without.map((c) => `${c.call ?? ''} ${c.status} ${c.code}`)).toEqual([]);
  });
});

// Document 2, proforma invoices and e-invoices: creation, replay, issuance, failure, settlement, deletion and every error row.
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-call -- answers are read loosely: what they hold is what is tested */
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { type Reply, Mor, brazilian, cart, cartIn, fieldsOf, line } from './support.js';

const unknownId = '00000000-0000-4000-8000-000000000000';
const path = '/api/proforma-invoices';
const from = `${path}/from-tax-calculation`;
const recipient = {
  legalName: 'Buyer Ltd',
  address: { line1: '1 Main', locality: 'London', postalCode: 'N1', country: 'GB' },
  taxIdentifiers: [{ type: 'GB_VAT', code: 'GB1', country: 'GB' }],
  contact: { email: 'ap@buyer.example' },
};
const direct = {
  jurisdiction: 'GB',
  total: { amount: '120.00', currency: 'GBP' },
  recipient,
  provider: { providerName: 'Shop', providerCountry: 'DE' },
  lineItems: [{ description: 'Plan', quantity: '1', unitPrice: { amount: '120.00', currency: 'GBP' } }],
  issueDate: '2026-03-02',
  dueDate: '2026-04-01',
};

let mor: Mor;
let keys = 0;
beforeAll(async () => {
  mor = await Mor.start();
  const events = ['issued', 'issuance_failed', 'settled'].map((name) => `proforma_invoice.${name}`);
  const all = [...events, 'e_invoice.issued', 'e_invoice.issuance_failed', 'e_invoice.cancelled'];
  await mor.call('POST', '/api/webhooks', { url: 'https://hooks.example/all', events: all });
});
afterAll(() => mor.close());

function post(to: string, body: unknown, key = `key-${(keys += 1)}`): Promise<Reply> {
  return mor.call('POST', to, body, 'merchant', { 'idempotency-key': key });
}
async function calculation(body: unknown = cart()): Promise<string> {
  return ((await mor.call('POST', '/api/tax/calculations', body)).body as { taxCalculationId: string })
    .taxCalculationId;
}
async function cite(calculationBody: unknown, more: object = {}): Promise<Reply> {
  return post(from, {
    taxCalculationId: await calculation(calculationBody),
    jurisdiction: 'GB',
    dueDate: '2026-04-01',
    ...more,
  });
}
const last = (type: string): ReturnType<Mor['events']>[number] | undefined =>
  mor
    .events()
    .filter((event) => event.type === type)
    .at(-1);

it("the sandbox's MoR accepts a proforma invoice, issues it seconds later, and settles it by a transfer", async () => {
  const made = await post(path, { ...direct, merchantReference: 'in_1' });
  const { id, number } = made.body;
  expect([made.status, made.headers.get('location'), made.headers.get('retry-after')]).toEqual([
    202,
    `${path}/${id}`,
    '2',
  ]);
  expect(made.body).toEqual({ id, number, status: 'PENDING_TAX_TRANSACTION', merchantReference: 'in_1' });
  expect((await mor.call('GET', `${path}/${id}`)).body).toEqual(made.body);
  const waiting = await mor.call('GET', `${path}/${id}/document`);
  expect([waiting.status, waiting.headers.get('retry-after')]).toEqual([202, '2']);
  await mor.advance(2);
  expect((await mor.call('GET', `${path}/${id}`)).body.status).toBe('ISSUED');
  const document = await mor.call('GET', `${path}/${id}/document`);
  const minutes = (Date.parse(document.body.expiresAt) - mor.kernel.clock.nowMs()) / 60_000;
  expect([document.status, Object.keys(document.body as object), minutes]).toEqual([
    200,
    ['fileName', 'url', 'expiresAt'],
    15,
  ]);
  expect(last('proforma_invoice.issued')).toMatchObject({
    id: `evt_issued_${id}`,
    created: expect.any(String),
    data: { proformaInvoiceId: id },
  });
  const deleted = await mor.call('DELETE', `${path}/${id}`);
  expect([deleted.status, deleted.body.code]).toEqual([409, 'not_deletable']);
  await mor.control(`/proformas/${id}/settle`, { amount: '100.00' });
  expect(last('proforma_invoice.settled')).toEqual({
    id: `evt_${id}`,
    type: 'proforma_invoice.settled',
    created: expect.any(String),
    data: {
      proformaInvoiceId: id,
      status: 'SETTLED',
      merchantReference: 'in_1',
      settledAt: expect.any(String),
      total: { amount: '120.00', currency: 'GBP' },
      amountReceived: { amount: '100.00', currency: 'GBP' },
      recipient: { legalName: 'Buyer Ltd' },
    },
  });
  expect((await mor.call('GET', `${path}/${id}`)).body.status).toBe('SETTLED');
});

it("the sandbox's MoR reports why a proforma invoice failed, and has no document for the invoice", async () => {
  const { id } = (await post(path, direct)).body;
  await mor.control(`/proformas/${id}/fail`, { message: 'bad input' });
  await mor.advance(5);
  expect((await mor.call('GET', `${path}/${id}`)).body).toMatchObject({
    status: 'ISSUANCE_FAILED',
    merchantReference: null,
    issuanceFailure: { code: 'proforma_tax_input_invalid', message: 'bad input', failedAt: expect.any(String) },
  });
  expect((await mor.call('GET', `${path}/${id}/document`)).body.code).toBe('issuance_failed');
  expect(last('proforma_invoice.issuance_failed')?.id).toBe(`evt_issuance_failed_${id}`);
  expect((await mor.control(`/proformas/${id}/settle`, {})).status).toBe(409);
});

it("a repeated DELETE of a pending proforma invoice succeeds at the sandbox's MoR and frees the reference", async () => {
  const body = { ...direct, merchantReference: 'freed' };
  const made = await post(path, body, 'spent');
  const { id } = made.body;
  const conflict = await post(path, body);
  expect([conflict.status, conflict.body.code, conflict.body.existingProformaInvoiceId]).toEqual([
    422,
    'merchant_reference_conflict',
    id,
  ]);
  for (let i = 0; i < 2; i += 1) expect((await mor.call('DELETE', `${path}/${id}`)).status).toBe(204);
  for (const tail of ['', '/document']) expect((await mor.call('GET', `${path}/${id}${tail}`)).status).toBe(404);
  expect((await post(path, body, 'spent')).body).toEqual(made.body); // a spent key replays for ever
  expect((await post(path, body)).status).toBe(202);
  await mor.advance(5);
  expect(mor.events().some((event) => event.data['proformaInvoiceId'] === id)).toBe(false);
});

it("the sandbox's MoR returns the same proforma invoice for the same key and body, and refuses another body", async () => {
  const first = await post(path, direct, 'one-key');
  await mor.advance(5);
  const again = await post(path, direct, 'one-key');
  expect([again.status, again.body, again.headers.get('location')]).toEqual([
    202,
    first.body,
    first.headers.get('location'),
  ]);
  for (const reply of [
    await post(path, { ...direct, dueDate: '2026-05-01' }, 'one-key'),
    await post(from, { taxCalculationId: unknownId }, 'one-key'),
  ]) {
    expect([reply.status, reply.body.code]).toEqual([422, 'idempotency_key_reused']);
  }
});

it("the sandbox's MoR issues no proforma invoice while a test pauses issuing", async () => {
  await mor.control('/issuance', { hold: true });
  const { id } = (await post(path, direct)).body;
  await mor.advance(60);
  expect((await mor.call('GET', `${path}/${id}`)).body.status).toBe('PENDING_TAX_TRANSACTION');
  await mor.control('/issuance', { hold: false });
  expect((await mor.call('GET', `${path}/${id}`)).body.status).toBe('ISSUED');
});

it("the sandbox's MoR takes a proforma invoice's total and recipient from a tax calculation, and uses each calculation once", async () => {
  const taxCalculationId = await calculation();
  const body = { taxCalculationId, jurisdiction: 'GB', dueDate: '2026-04-01', notices: ['Thank you'] };
  const made = await post(from, body);
  expect(made.status).toBe(202);
  const again = await post(from, body);
  expect([again.status, again.body.code]).toEqual([422, 'tax_calculation_already_used']);
  await mor.advance(2);
  await mor.control(`/proformas/${made.body.id}/settle`, {});
  expect(last('proforma_invoice.settled')?.data).toMatchObject({
    amountReceived: { amount: '120.00', currency: 'GBP' },
    recipient: { legalName: 'Buyer Ltd' },
  });
});

const part = (name: string, value: unknown): object => ({ ...direct, [name]: value });
it.each<[string, unknown, string]>([
  ['broken JSON', '{', 'body'],
  ['no jurisdiction', part('jurisdiction', undefined), 'jurisdiction'],
  ['jurisdiction of three letters', part('jurisdiction', 'GBR'), 'jurisdiction'],
  ['no total', part('total', undefined), 'total'],
  ['total of 0', part('total', { amount: '0.00', currency: 'GBP' }), 'total.amount'],
  ['no recipient', part('recipient', undefined), 'recipient'],
  ['no legal name', part('recipient', { ...recipient, legalName: undefined }), 'recipient.legalName'],
  [
    'no locality',
    part('recipient', { ...recipient, address: { ...recipient.address, locality: '' } }),
    'recipient.address.locality',
  ],
  ['no email', part('recipient', { ...recipient, contact: {} }), 'recipient.contact.email'],
  [
    'identifier without country',
    part('recipient', { ...recipient, taxIdentifiers: [{ type: 'GB_VAT', code: '1' }] }),
    'recipient.taxIdentifiers[0].country',
  ],
  ['no provider country', part('provider', { providerName: 'x' }), 'provider.providerCountry'],
  ['no lines', part('lineItems', []), 'lineItems'],
  ['line without price', part('lineItems', [{ description: 'x', quantity: '1' }]), 'lineItems[0].unitPrice'],
  ['no issue date', part('issueDate', undefined), 'issueDate'],
  ['impossible due date', part('dueDate', '2026-02-30'), 'dueDate'],
  ['due date before the issue date', part('dueDate', '2026-03-01'), 'dueDate'],
])("the sandbox's MoR refuses a direct proforma invoice with 400: %s", async (_name, body, field) => {
  const reply = await post(path, body);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'invalid_argument', [field]]);
});

it("the sandbox's MoR refuses a proforma invoice without a key or with a key over 255 characters", async () => {
  for (const to of [path, from]) {
    const without = await mor.call('POST', to, direct);
    const long = await post(to, direct, 'k'.repeat(256));
    for (const reply of [without, long])
      expect([reply.body.code, fieldsOf(reply)]).toEqual(['invalid_argument', ['Idempotency-Key']]);
  }
  expect((await post(path, direct, 'k'.repeat(255))).status).toBe(202);
});

it("the sandbox's MoR answers 422 to a proforma invoice for an unsupported jurisdiction, such as Antarctica", async () => {
  const first = await post(path, { ...direct, jurisdiction: 'AQ' });
  const second = await cite(cart(), { jurisdiction: 'AQ' });
  for (const reply of [first, second])
    expect([reply.status, reply.body.code]).toEqual([422, 'unsupported_jurisdiction']);
});

it.each<[string, object, string]>([
  ['no calculation', { taxCalculationId: undefined }, 'taxCalculationId'],
  ['calculation id other than a UUID', { taxCalculationId: 'x' }, 'taxCalculationId'],
  ['no jurisdiction', { jurisdiction: undefined }, 'jurisdiction'],
  ['no due date', { dueDate: undefined }, 'dueDate'],
  ['due date before the issue date', { issueDate: '2026-04-02' }, 'dueDate'],
  ['due date in the past', { dueDate: '2026-03-01' }, 'dueDate'],
  ['provider without name', { provider: {} }, 'provider.providerName'],
  ['blank notice', { notices: ['x', ' '] }, 'notices[1]'],
])("the sandbox's MoR refuses a proforma invoice from a tax calculation with 400: %s", async (_name, more, field) => {
  const reply = await cite(cart(), more);
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'invalid_argument', [field]]);
});

it("the sandbox's MoR answers 404 to a proforma invoice from an unknown or another merchant's tax calculation", async () => {
  expect((await cite(cart(), { taxCalculationId: unknownId })).body.code).toBe('not_found');
  const body = { taxCalculationId: await calculation(), jurisdiction: 'GB', dueDate: '2026-04-01' };
  expect((await mor.call('POST', from, body, 'otherMerchant', { 'idempotency-key': 'foreign' })).status).toBe(404);
});

const goods = { ...line, productType: 'PHYSICAL' };
const shipping = { shippingAddress: { line1: '1', city: 'London', postalCode: 'N1', country: 'GB' } };
const brazil = { dueDate: '2026-04-01', jurisdiction: 'BR' };
it.each<[string, unknown, object, string]>([
  ['another currency', cart({ currency: 'EUR' }), {}, 'invoicing currency'],
  ['another region', cart(), { jurisdiction: 'DE' }, 'another region'],
  ['the merchant liable for the tax', cartIn('FR', 'EUR'), { jurisdiction: 'FR' }, 'liable'],
  ['a total of 0', cart({ lineItems: [{ ...line, unitPrice: 0 }] }), {}, 'not positive'],
  ['no state in Brazil', cartIn('BR', 'BRL', {}, brazilian), brazil, 'lacks a needed part'],
  ['no customer name', cart({}, { legalName: undefined, firstName: 'Ann' }), {}, 'no customer name'],
  ['physical goods', cart({ lineItems: [goods] }, shipping), {}, 'PHYSICAL'],
  ['shipping', cart({}, shipping), {}, 'carries shipping'],
])(
  "the sandbox's MoR answers 422 tax_calculation_unusable to a proforma invoice: %s",
  async (_name, body, more, reason) => {
    const reply = await cite(body, more);
    expect([reply.status, reply.body.code]).toEqual([422, 'tax_calculation_unusable']);
    expect(JSON.stringify(reply.body.errors)).toContain(reason);
  },
);

it("the sandbox's MoR refuses a proforma invoice from a tax calculation older than 1 h 55 min", async () => {
  for (const [seconds, status, code] of [
    [115 * 60, 202, undefined],
    [115 * 60 + 1, 422, 'tax_calculation_unusable'],
    [120 * 60 + 1, 422, 'tax_calculation_unusable'],
    [7 * 86_400, 422, 'tax_calculation_expired'],
  ] as const) {
    const taxCalculationId = await calculation();
    await mor.advance(seconds);
    const reply = await post(from, { taxCalculationId, jurisdiction: 'GB', dueDate: '2026-12-01' });
    expect([seconds, reply.status, reply.body.code]).toEqual([seconds, status, code]);
  }
});

it("the sandbox's MoR refuses a proforma invoice without a bank account for its currency, or with a wrong address in Brazil", async () => {
  mor.state.regions.set('JP', 'mor');
  const due = { dueDate: '2026-12-01' };
  expect((await cite(cartIn('JP', 'JPY'), { ...due, jurisdiction: 'JP' })).body.code).toBe('no_payment_destination');
  const bad = await cite(cartIn('BR', 'BRL', { address: { state: 'XX' } }, brazilian), { ...due, jurisdiction: 'BR' });
  expect([bad.status, bad.body.code, fieldsOf(bad)]).toEqual([
    422,
    'nfse_validation_failed',
    ['customer.billingAddress.postalCode', 'customer.billingAddress.state'],
  ]);
});

it("the sandbox's MoR refuses a second proforma invoice under a reference in use, and names the first invoice", async () => {
  const due = { dueDate: '2026-12-01', merchantReference: 'held' };
  const held = await cite(cart(), due);
  const again = await cite(cart(), due);
  expect([again.body.code, again.body.existingProformaInvoiceId]).toEqual([
    'merchant_reference_conflict',
    held.body.id,
  ]);
});

it("the sandbox's MoR answers 400, 404 and 401 to a malformed, unknown or unauthorized read of a proforma invoice", async () => {
  const { id } = (await post(path, direct)).body;
  for (const [method, tail] of [
    ['GET', ''],
    ['GET', '/document'],
    ['DELETE', ''],
  ] as const) {
    expect((await mor.call(method, `${path}/abc${tail}`)).body.code).toBe('invalid_argument');
    expect((await mor.call(method, `${path}/${unknownId}${tail}`)).body.code).toBe('not_found');
    expect((await mor.call(method, `${path}/${id}${tail}`, undefined, 'otherMerchant')).status).toBe(404);
    expect((await mor.call(method, `${path}/${id}${tail}`, undefined, 'nobody')).status).toBe(401);
  }
  for (const to of [path, from]) expect((await mor.call('POST', to, direct, 'nobody')).status).toBe(401);
  expect((await post(from, { taxCalculationId: 'x' }, 'one-key')).body.code).toBe('idempotency_key_reused');
});

async function brazilianProforma(): Promise<{ id: string; eInvoiceId: string }> {
  const address = { address: { state: 'SP', postalCode: '01310-100' } };
  const { id } = (await cite(cartIn('BR', 'BRL', address, brazilian), { jurisdiction: 'BR', dueDate: '2026-12-01' }))
    .body;
  await mor.advance(2);
  const list = await mor.call('GET', '/_sandbox/e-invoices');
  return { id, eInvoiceId: list.body.data.at(-1).id };
}
const read = (id: string): Promise<Reply> => mor.call('GET', `/api/e-invoices/${id}`);

it("the sandbox's MoR issues an e-invoice with fresh links after a wait, and later cancels the e-invoice", async () => {
  const { id, eInvoiceId } = await brazilianProforma();
  expect((await read(eInvoiceId)).body).toEqual({
    id: eInvoiceId,
    status: 'PENDING',
    source: { type: 'proforma_invoice', id },
  });
  await mor.advance(5);
  const issued = await read(eInvoiceId);
  expect(issued.body).toMatchObject({
    status: 'ISSUED',
    document: { pdfUrl: expect.any(String), xmlUrl: expect.any(String), expiresAt: expect.any(String) },
  });
  expect(last('e_invoice.issued')).toMatchObject({ id: `evt_issued_${eInvoiceId}`, data: { eInvoiceId } });
  expect(JSON.stringify(last('e_invoice.issued'))).not.toContain('http');
  await mor.control(`/e-invoices/${eInvoiceId}`, { status: 'CANCELLED' });
  expect((await read(eInvoiceId)).body.status).toBe('CANCELLED');
  expect(last('e_invoice.cancelled')?.data['eInvoiceId']).toBe(eInvoiceId);
  expect((await mor.control(`/e-invoices/${eInvoiceId}`, { status: 'ISSUED' })).status).toBe(409);
});

it("the sandbox's MoR shows why the authority refused an e-invoice, and has no document for it", async () => {
  const { id, eInvoiceId } = await brazilianProforma();
  await mor.control(`/e-invoices/${id}`, { status: 'FAILED', message: 'unknown service code' });
  await mor.advance(60);
  expect((await read(eInvoiceId)).body).toEqual({
    id: eInvoiceId,
    status: 'FAILED',
    source: { type: 'proforma_invoice', id },
    error: { message: 'unknown service code' },
  });
  expect(last('e_invoice.issuance_failed')?.data['reason']).toBe('unknown service code');
});

it("the sandbox's MoR answers 404, 400 and 401 to an unknown, malformed or unauthorized read of an e-invoice", async () => {
  const { eInvoiceId } = await brazilianProforma();
  const { id } = (await post(path, direct)).body;
  for (const unknown of [unknownId, id]) expect((await read(unknown)).body.code).toBe('not_found');
  expect((await read('abc')).body.code).toBe('invalid_argument');
  expect((await mor.call('GET', `/api/e-invoices/${eInvoiceId}`, undefined, 'otherMerchant')).status).toBe(404);
  expect((await mor.call('GET', `/api/e-invoices/${eInvoiceId}`, undefined, 'nobody')).status).toBe(401);
});

it('the tests of proforma invoices and e-invoices cover every documented answer of the MoR', () => {
  expect(mor.uncovered('proforma')).toEqual([]);
});

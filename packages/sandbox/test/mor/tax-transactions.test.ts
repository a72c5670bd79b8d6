// Document 2, tax transactions, their refunds and invoices, and the catalogue.
/* eslint-disable @typescript-eslint/no-unsafe-assignment, @typescript-eslint/no-unsafe-member-access, @typescript-eslint/no-unsafe-argument, @typescript-eslint/no-unsafe-call -- answers are read loosely: what they hold is what is tested */
import { expect, it } from '@jest/globals';
import { type Reply, type Mor, cart, cartIn, fieldsOf, line, morForAll } from './support.js';

const unknownId = '00000000-0000-4000-8000-000000000000';
let mor: Mor;
morForAll((started) => (mor = started));

const list = '/api/tax/transactions';
const french = (change: object = {}): Promise<string> => calculation(cartIn('FR', 'EUR', { ...change }));
async function calculation(body: unknown): Promise<string> {
  return ((await mor.call('POST', '/api/tax/calculations', body)).body as { taxCalculationId: string })
    .taxCalculationId;
}
const commit = (taxCalculationId: unknown, merchantTransactionReference: unknown, more: object = {}): Promise<Reply> =>
  mor.call('POST', list, { taxCalculationId, merchantTransactionReference, ...more });

it("the sandbox's MoR makes one tax transaction from a calculation, and returns the same transaction to a repeat", async () => {
  const id = await french();
  const payment = { processor: 'cardpsp', paymentReference: 'ch_1' };
  const first = await commit(id, 'in_1', { payment });
  expect(first.status).toBe(200);
  expect(first.body).toMatchObject({
    refunded: false,
    merchantTransactionReference: 'in_1',
    netAmount: '100.00',
    taxAmount: '20.00',
    totalAmount: '120.00',
    refundsOnTransaction: [],
    payment,
    createdAt: '2026-03-02T10:00:00.000Z',
    confirmedAt: expect.any(String),
    transactionDate: expect.any(String),
    evidence: { billingCountry: 'FR' },
  });
  await mor.advance(8 * 86_400);
  expect((await commit(id, 'in_1')).body.transactionId).toBe(first.body.transactionId);
  expect((await mor.call('GET', `${list}/${first.body.transactionId}`)).body).toEqual(first.body);
});

it.each<[string, () => Promise<Reply>, string, string]>([
  ['no calculation', () => commit(undefined, 'r'), 'invalid_argument', 'taxCalculationId'],
  ['calculation id other than a UUID', () => commit('tax_1', 'r'), 'invalid_argument', 'taxCalculationId'],
  ['no reference', () => commit(unknownId, undefined), 'invalid_argument', 'merchantTransactionReference'],
  ['broken JSON', () => mor.call('POST', list, '{'), 'invalid_argument', 'body'],
  [
    'calculation used under another reference',
    async () => {
      const id = await french();
      await commit(id, 'used-1');
      return commit(id, 'used-2');
    },
    'invalid_state',
    'taxCalculationId',
  ],
  [
    'reference of another calculation',
    async () => commit(await french(), 'used-1'),
    'invalid_state',
    'merchantTransactionReference',
  ],
  [
    'expired calculation',
    async () => {
      const id = await french();
      await mor.advance(7 * 86_400);
      return commit(id, 'late');
    },
    'invalid_state',
    'taxCalculationId',
  ],
  ['Merchant of Record region', async () => commit(await calculation(cart()), 'gb'), 'invalid_state', 'customer'],
  [
    'region switched off since',
    async () => {
      const id = await french();
      mor.state.regions.delete('FR');
      const reply = await commit(id, 'off');
      mor.state.regions.set('FR', 'tor');
      return reply;
    },
    'invalid_state',
    'customer',
  ],
  [
    'Tax of Record switched off since',
    async () => {
      const id = await french();
      const saved = [...mor.state.regions];
      mor.state.regions.clear();
      const reply = await commit(id, 'off');
      for (const [country, product] of saved) mor.state.regions.set(country, product);
      return reply;
    },
    'invalid_state',
    'status',
  ],
])("the sandbox's MoR refuses a tax transaction with 400: %s", async (_name, act, code, field) => {
  const reply = await act();
  expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, code, [field]]);
});

it("the sandbox's MoR answers 404 to a tax transaction from an unknown or another merchant's calculation", async () => {
  expect((await commit(unknownId, 'x')).body).toEqual({ code: 'not_found', errors: [] });
  const body = { taxCalculationId: await french(), merchantTransactionReference: 'x' };
  expect((await mor.call('POST', list, body, 'otherMerchant')).status).toBe(404);
});

it("the sandbox's MoR lists tax transactions newest first, page by page, until no cursor is left", async () => {
  for (const n of [1, 2, 3, 4]) await commit(await french(), `page-${n}`);
  const first = await mor.call('GET', `${list}?size=2`);
  const references = (reply: Reply): string[] =>
    (reply.body as { transactions: { merchantTransactionReference: string }[] }).transactions.map(
      (one) => one.merchantTransactionReference,
    );
  expect(references(first)).toEqual(['page-4', 'page-3']);
  const second = await mor.call('GET', `${list}?size=2&cursor=${first.body.nextCursor}`);
  expect(references(second)).toEqual(['page-2', 'page-1']);
  const one = await mor.call('GET', `${list}?merchantTransactionReference=page-3&size=1`);
  expect([references(one), one.body.nextCursor]).toEqual([['page-3'], undefined]);
  expect(references(await mor.call('GET', list, undefined, 'otherMerchant'))).toEqual([]);
  for (const [query, field, who] of [
    ['size=0', 'size', 'merchant'],
    ['size=101', 'size', 'merchant'],
    ['size=x', 'size', 'merchant'],
    ['cursor=abc', 'cursor', 'merchant'],
    [`cursor=${first.body.nextCursor}`, 'cursor', 'otherMerchant'],
  ] as const) {
    const reply = await mor.call('GET', `${list}?${query}`, undefined, who);
    expect([query, reply.status, reply.body.code, fieldsOf(reply)]).toEqual([query, 400, 'invalid_argument', [field]]);
  }
});

it("the sandbox's MoR has an invoice for a tax transaction after a moment", async () => {
  const { body } = await commit(await french(), 'invoice');
  const path = `${list}/${body.transactionId}/invoice`;
  const wait = await mor.call('GET', path);
  expect([wait.status, wait.headers.get('retry-after')]).toEqual([202, '2']);
  await mor.advance(2);
  const ready = await mor.call('GET', path);
  expect(ready.body).toEqual({ b2cInvoice: { fileName: expect.any(String), url: expect.any(String) } });
  const link = (): Promise<Reply> => mor.call('GET', ready.body.b2cInvoice.url.replace(mor.state.baseUrl, ''));
  expect((await link()).status).toBe(200);
  await mor.advance(3600);
  expect((await link()).status).toBe(403);
});

const item = (lineItemId: string, more: object = {}): object => ({
  lineItemId,
  refundLineItemReference: 'x',
  refundReason: 'returned',
  ...more,
});
async function sale(reference: string, price: number | string = 100): Promise<{ path: string; lines: string[] }> {
  const lineItems = [
    { ...line, unitPrice: price },
    { ...line, unitPrice: 10, merchantLineItemReference: 'l2' },
  ];
  const { body } = await commit(await french({ lineItems }), reference);
  return {
    path: `${list}/${body.transactionId}/refunds`,
    lines: body.lineItems.map((one: { lineItemId: string }) => one.lineItemId),
  };
}
const refund = (path: string, merchantRefundReference: string, items: object[], more: object = {}): Promise<Reply> =>
  mor.call('POST', path, { merchantRefundReference, refundLineItems: items, ...more });

it("the sandbox's MoR marks the lines of a tax refund as refunded in the list of transactions", async () => {
  const { path, lines } = await sale('whole');
  const { status, body } = await refund(
    path,
    'whole-1',
    lines.map((id) => item(id)),
    { refundDate: '2026-03-01T00:00:00Z' },
  );
  expect(status).toBe(200);
  expect(body).toMatchObject({
    merchantRefundReference: 'whole-1',
    refundDate: '2026-03-01T00:00:00Z',
    currency: 'EUR',
    subTotalAmount: '110.00',
    taxAmount: '22.00',
    totalAmount: '132.00',
  });
  expect(body.refundLineItems[0]).toEqual({
    lineItemId: lines[0],
    refundLineItemReference: 'x',
    refundReason: 'returned',
    refundItemSubTotalAmount: '100.00',
    refundItemTotalAmount: '120.00',
    refundTax: { rate: '0.20', taxAmount: '20.00', currency: 'EUR' },
  });
  expect((await mor.call('GET', path)).body).toEqual([body]);
  const transaction = await mor.call('GET', path.replace('/refunds', ''));
  expect(transaction.body).toMatchObject({ refunded: true, lineItems: [{ refunded: true }, { refunded: true }] });
  expect(transaction.body.refundsOnTransaction).toEqual([body]);
});

it("partial tax refunds at the sandbox's MoR, net or gross, add up to exactly the line's amount and never exceed it", async () => {
  const { path, lines } = await sale('parts', '9.99');
  const one = (lineItemId: string, amount: unknown): object => item(lineItemId, { amount });
  const net = await refund(path, 'parts-1', [one(lines[0] ?? '', '3.33')]);
  const gross = await refund(path, 'parts-2', [one(lines[0] ?? '', 4)], { taxBehavior: 'INCLUSIVE' });
  const over = await refund(path, 'parts-3', [one(lines[0] ?? '', '5.00')]);
  expect([over.status, over.body.code, fieldsOf(over)]).toEqual([
    400,
    'invalid_argument',
    ['refundLineItems[0].amount'],
  ]);
  const remaining = await refund(path, 'parts-4', [item(lines[0] ?? '')]);
  const cents = (reply: Reply): bigint => BigInt(reply.body.totalAmount.replace('.', ''));
  expect(net.body).toMatchObject({ subTotalAmount: '3.33', taxAmount: '0.67', totalAmount: '4.00' });
  expect(cents(net) + cents(gross) + cents(remaining)).toBe(1199n);
  const spent = await refund(path, 'parts-5', [item(lines[0] ?? '')]);
  expect(spent.body.code).toBe('invalid_argument');
  const transaction = await mor.call('GET', path.replace('/refunds', ''));
  expect(transaction.body).toMatchObject({ refunded: false, lineItems: [{ refunded: true }, { refunded: false }] });
});

it("the sandbox's MoR returns one tax refund to identical requests, and refuses to reuse the reference", async () => {
  const { path, lines } = await sale('retry');
  const other = await sale('retry-other');
  const items = [item(lines[0] ?? '', { amount: '10.00' })];
  const first = await refund(path, 'retry-1', items);
  const again = await refund(path, 'retry-1', items);
  expect(again.body).toEqual(first.body);
  const remaining = await refund(path, 'retry-2', [item(lines[0] ?? '')]);
  const gross = await refund(path, 'retry-2', [item(lines[0] ?? '')], { taxBehavior: 'INCLUSIVE' }); // ignored without an amount
  expect(gross.body).toEqual(remaining.body);
  for (const reply of [
    await refund(path, 'retry-1', [item(lines[0] ?? '', { amount: '11.00' })]),
    await refund(path, 'retry-1', [item(lines[1] ?? '')]),
    await refund(other.path, 'retry-1', [item(other.lines[0] ?? '')]),
  ]) {
    expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([
      400,
      'invalid_state',
      ['merchantRefundReference'],
    ]);
  }
});

it("the sandbox's MoR refuses a tax refund with a wrong field, date or line", async () => {
  const { path, lines } = await sale('checks');
  const good = [item(lines[0] ?? '')];
  for (const [reply, field] of [
    [await mor.call('POST', path, '{'), 'body'],
    [await refund(path, '', good), 'merchantRefundReference'],
    [await refund(path, 'c', []), 'refundLineItems'],
    [await refund(path, 'c', [{ ...good[0], refundReason: undefined }]), 'refundLineItems[0].refundReason'],
    [
      await refund(path, 'c', [{ ...good[0], refundLineItemReference: '' }]),
      'refundLineItems[0].refundLineItemReference',
    ],
    [await refund(path, 'c', [{ ...good[0], lineItemId: undefined }]), 'refundLineItems[0].lineItemId'],
    [await refund(path, 'c', [{ ...good[0], amount: '0' }]), 'refundLineItems[0].amount'],
    [await refund(path, 'c', good, { refundDate: '2026-03-01' }), 'refundDate'],
    [await refund(path, 'c', good, { refundDate: '2026-02-30T00:00:00Z' }), 'refundDate'],
    [await refund(path, 'c', good, { refundDate: '2099-01-01T00:00:00Z' }), 'refundDate'],
    [await refund(path, 'c', good, { taxBehavior: 'BOTH' }), 'body'],
  ] as const) {
    expect([reply.status, reply.body.code, fieldsOf(reply)]).toEqual([400, 'invalid_argument', [field]]);
  }
  const absent = await refund(path, 'c', [item(unknownId)]);
  expect([absent.status, absent.body.code, fieldsOf(absent)]).toEqual([
    404,
    'not_found',
    ['refundLineItems[0].lineItemId'],
  ]);
});

it("the sandbox's MoR answers 400, 404 and 401 to a malformed, unknown or unauthorized tax transaction", async () => {
  const { path } = await sale('ids');
  const id = path.split('/')[4] ?? '';
  for (const [method, tail] of [
    ['GET', ''],
    ['GET', '/refunds'],
    ['POST', '/refunds'],
    ['GET', '/invoice'],
  ] as const) {
    const bad = await mor.call(method, `${list}/abc${tail}`);
    expect([bad.status, bad.body.code, fieldsOf(bad)]).toEqual([400, 'invalid_argument', ['transaction_id']]);
    expect((await mor.call(method, `${list}/${unknownId}${tail}`)).body.code).toBe('not_found');
    expect((await mor.call(method, `${list}/${id}${tail}`, undefined, 'otherMerchant')).status).toBe(404);
    expect((await mor.call(method, `${list}/${id}${tail}`, undefined, 'nobody')).status).toBe(401);
  }
  for (const method of ['GET', 'POST']) expect((await mor.call(method, list, undefined, 'partner')).status).toBe(401);
});

it("the sandbox's MoR imports one product per call, and replaces a product with the same id", async () => {
  const product = { productId: 'sku-1', title: 'Mug', requiresShipping: true, priceAmount: 9.5, priceCurrency: 'EUR' };
  const made = await mor.call('POST', '/api/catalogue/products', product);
  expect([made.status, made.body]).toEqual([201, { ...product, productGroupId: 'sku-1', taxable: true }]);
  expect((await mor.call('POST', '/api/catalogue/products', product)).status).toBe(200);
  const empty = await mor.call('POST', '/api/catalogue/products', {});
  expect([empty.body.code, fieldsOf(empty).sort()]).toEqual([
    'invalid_argument',
    ['productId', 'requiresShipping', 'title'],
  ]);
  expect((await mor.call('POST', '/api/catalogue/products', product, 'nobody')).status).toBe(401);
});

it('the tests of tax transactions, refunds and the catalogue cover every documented answer of the MoR', () => {
  expect(mor.uncovered('tax').filter((row) => !row.startsWith('POST /api/tax/calculations'))).toEqual([]);
});

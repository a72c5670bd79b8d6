// Accepted and refused input: every refusal has one shape and reveals nothing more.
import { expect, it } from '@jest/globals';
import fc from 'fast-check';
import { type ApiApp, apiForAll } from './support/api-app.js';

let api: ApiApp;
apiForAll((started) => (api = started));

const payment = { kind: 'payment', customer: { id: 'cus_1' }, amount: 100, currency: 'eur' };

type Problem = { code: string; message: string; errors: { field: string; message: string }[] };
async function refused(
  status: number,
  method: string,
  path: string,
  asked: Parameters<ApiApp['call']>[2],
): Promise<Problem> {
  const reply = await api.call(method, path, asked);
  expect([path, asked?.raw ?? asked?.body, reply.status]).toEqual([path, asked?.raw ?? asked?.body, status]);
  expect(Object.keys(reply.json).sort()).toEqual(['code', 'errors', 'message']);
  expect(reply.text).not.toMatch(/\n\s+at |node_modules|select |PostgreSQL|\.ts:/);
  return reply.json as Problem;
}

const fieldOf = async (body: unknown, raw?: string): Promise<string | undefined> =>
  (await refused(400, 'POST', '/v1/signups', raw === undefined ? { body } : { raw })).errors[0]?.field;

it('the API refuses an amount other than a positive integer in plain digits', async () => {
  const written = '"100" "10.00" 1.5 1e3 1E+2 100.0 -1 0 -0 9007199254740992 null true [1] {}'.split(' ');
  for (const amount of [...written, '"１００"', '" 1"', '1e400']) {
    expect(
      await fieldOf(null, `{"kind":"payment","customer":{"id":"cus_1"},"currency":"eur","amount":${amount}}`),
    ).toBe('amount');
  }
  expect(api.mor.calls).toEqual([]);
});

it('the API stores every integer amount up to 2^53 exactly', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: Number.MAX_SAFE_INTEGER }), async (amount) => {
      const made = await api.call('POST', '/v1/signups', { body: { ...payment, amount } });
      const { json } = await api.call('GET', `/v1/signups/${String(made.json['id'])}`);
      return made.status === 201 && json['amount'] === amount;
    }),
    { numRuns: 15 },
  );
});

it("the API accepts numbers such as 1e3 and 0.5 in a refund's metadata", async () => {
  const raw = '{"amount":100,"metadata":{"rate":1e3,"share":0.5,"amount":1.0}}';
  const reply = await api.call('POST', '/v1/payments/pay_none/refunds', { raw, headers: { 'idempotency-key': 'k' } });
  expect(reply.status).toBe(404);
});

it('the API refuses an unknown field at any depth and names the field', async () => {
  expect(await fieldOf({ ...payment, ammount: 1 })).toBe('ammount');
  expect(await fieldOf({ ...payment, customer: { id: 'cus_1', vip: true } })).toBe('customer.vip');
  expect(await fieldOf({ ...payment, status: 'succeeded' })).toBe('status');
});

it('the API refuses a signup with a wrong field and names the field', async () => {
  const c = { id: 'cus_1' };
  const wrong: [string, object][] = [
    ['kind', { ...payment, kind: 'gift' }],
    ['kind', { ...payment, kind: null }],
    ['customer', { ...payment, customer: undefined }],
    ['customer', { ...payment, customer: 'cus_1' }],
    ['customer', { ...payment, customer: [] }],
    ['customer', { ...payment, customer: null }],
    ['customer.id', { ...payment, customer: {} }],
    ['customer.id', { ...payment, customer: { id: '' } }],
    ['customer.id', { ...payment, customer: { id: 'x'.repeat(256) } }],
    ['customer.id', { ...payment, customer: { id: 'cus\n1' } }],
    ['customer.id', { ...payment, customer: { id: 'cus\u0000' } }],
    ['customer.email', { ...payment, customer: { ...c, email: 'ada' } }],
    ['customer.country', { ...payment, customer: { ...c, country: 'Germany' } }],
    ['customer.country', { ...payment, customer: { ...c, country: 'XX' } }],
    ['customer.address', { ...payment, customer: { ...c, address: { line1: 7 } } }],
    ['customer.address', { ...payment, customer: { ...c, address: 'Main Street' } }],
    ['currency', { ...payment, currency: 'euro' }],
    ['currency', { ...payment, currency: undefined }],
    ['amount', { ...payment, amount: undefined }],
    ['description', { ...payment, description: 'x'.repeat(256) }],
    ['tax.currency', { ...payment, tax: {} }],
    ['payment_method_types', { ...payment, payment_method_types: ['card'] }],
    ['payment_method_types', { kind: 'trial', customer: c, payment_method_types: ['two words'] }],
    ['payment_method_types', { kind: 'trial', customer: c, payment_method_types: [] }],
    ['payment_method_types', { kind: 'trial', customer: c, payment_method_types: 'card' }],
    ['payment_method_types', { kind: 'trial', customer: c, payment_method_types: ['card', 'card'] }],
    ['amount', { kind: 'trial', customer: c, amount: 1 }],
    ['currency', { kind: 'trial', customer: c, currency: 'eur' }],
  ];
  for (const [field, body] of wrong) expect([field, await fieldOf(body), body]).toEqual([field, field, body]);
});

it("the API accepts null in a signup's customer details, and sends no null to the MoR", async () => {
  const customer = { id: 'cus_null', email: null, name: null, country: null, address: { line1: 'Weg 1', line2: null } };
  expect((await api.call('POST', '/v1/signups', { body: { ...payment, customer } })).status).toBe(201);
  expect(api.mor.calls.at(-1)?.call).toMatchObject({
    customer: { id: 'cus_null', address: { line1: 'Weg 1' } },
  });
  expect(api.mor.calls.at(-1)?.wire.body).not.toContain('email');
  const bare = { id: 'cus_bare', address: null };
  expect((await api.call('POST', '/v1/signups', { body: { ...payment, customer: bare } })).status).toBe(201);
});

it('a request with a field like __proto__ or constructor changes no object of the daemon', async () => {
  const body = (extra: string, customer = ''): string =>
    `{"kind":"payment","customer":{"id":"cus_1"${customer}},"amount":100,"currency":"eur"${extra}}`;
  expect(await fieldOf(null, body(',"__proto__":{"isAdmin":true}'))).toBe('__proto__');
  expect(await fieldOf(null, body(',"constructor":{"prototype":{"isAdmin":true}}'))).toBe('constructor');
  expect(await fieldOf(null, body('', ',"constructor":"x"'))).toBe('customer.constructor');
  const data = await api.call('POST', '/v1/signups', { raw: body('', ',"address":{"constructor":"x"}') });
  expect(data.status).toBe(201);
  expect(({} as Record<string, unknown>)['isAdmin']).toBeUndefined();
  const query = '/v1/invoices?__proto__[limit]=5&__proto__=x&constructor=y';
  expect((await refused(400, 'GET', query, {})).errors.map((e) => e.field)).toContain('constructor');
  expect(({} as Record<string, unknown>)['limit']).toBeUndefined();
});

it('the API answers any JSON body with a 4xx, never with a 500', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.json(),
      fc.constantFrom('/v1/signups', '/v1/signups/x/complete', '/v1/reviews/x/resolve'),
      async (raw, path) => {
        const { status } = await api.call('POST', path, { raw });
        return status >= 400 && status < 500;
      },
    ),
    { numRuns: 60 },
  );
});

it('the API refuses a body other than one JSON object in UTF-8 of limited depth with unique keys', async () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`;
  for (const raw of ['{', '[]', '"x"', '1', 'null', '{"a":1,"a":2}', `{"a":${deep}}`, '\u{feff}{}']) {
    expect((await refused(400, 'POST', '/v1/signups', { raw })).errors[0]?.field).toBe('body');
  }
  const half = await fetch(`${api.url}/v1/signups`, {
    method: 'POST',
    headers: { authorization: 'Bearer ops-key-0123456789abcdef0123456789abcdef0', 'content-type': 'application/json' },
    body: Buffer.from([0x7b, 0xff, 0x7d]),
  });
  expect(half.status).toBe(400);
});

it("the API refuses a body without the JSON content type, such as another site's form, with 415", async () => {
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data', 'application/jsonx']) {
    const problem = await refused(415, 'POST', '/v1/signups', { body: payment, headers: { 'content-type': type } });
    expect(problem.code).toBe('unsupported_media_type');
  }
  const reply = await api.call('POST', '/v1/signups', {
    body: payment,
    headers: { 'content-type': 'Application/JSON; charset=utf-8' },
  });
  expect(reply.status).toBe(201);
});

it('the API refuses a compressed body with 415 and a body over 256 KB with 413', async () => {
  const problem = await refused(415, 'POST', '/v1/signups', { body: payment, headers: { 'content-encoding': 'gzip' } });
  expect(problem.code).toBe('unsupported_media_type');
  const big = await refused(413, 'POST', '/v1/signups', { raw: `{"a":"${'x'.repeat(256 * 1024)}"}` });
  expect(big.code).toBe('payload_too_large');
});

it.each(['mor:pay_1', 'event:stripe:evt_1'])(
  'the API refuses %s, the id of a lane without an invoice, as an invoice id',
  async (name) => {
    const made = await api.call('POST', '/v1/signups', { body: payment });
    const path = `/v1/signups/${String(made.json['id'])}/complete`;
    const body = { charge_id: 'ch_1', invoice_id: name, amount: 2990, currency: 'eur' };
    const problem = await refused(400, 'POST', path, { body });
    expect(problem.errors).toEqual([{ field: 'invoice_id', message: expect.stringContaining('in_…') }]);
    for (const [method, route] of [
      ['GET', ''],
      ['GET', '/proforma'],
      ['POST', '/proforma'],
      ['GET', '/payment-link'],
      ['POST', '/payment-link'],
    ] as const) {
      const asked = method === 'POST' ? { body: {}, headers: { 'idempotency-key': 'k' } } : {};
      const reply = await api.call(method, `/v1/invoices/${encodeURIComponent(name)}${route}`, asked);
      expect([400, 404]).toContain(reply.status);
    }
    const lanes = await api.db.orm.query<{ key: string }[]>('select key from lane where key = $1', [name]);
    expect(lanes).toEqual([]);
  },
);

it('the API answers an unknown route, method or id with 404', async () => {
  expect((await refused(404, 'GET', '/v1/nothing', {})).code).toBe('not_found');
  expect((await refused(404, 'PUT', '/v1/signups', {})).code).toBe('not_found');
  for (const list of ['signups', 'customers', 'invoices', 'payments', 'refunds', 'events', 'reviews']) {
    for (const id of ['nope', 'ie_999', `x${'y'.repeat(300)}`, '%00', "';drop table payment;--", '%F0%9F%92%B8']) {
      expect((await refused(404, 'GET', `/v1/${list}/${id}`, {})).code).toBe('not_found');
    }
  }
  expect((await refused(400, 'GET', '/v1/invoices/%E0%A4%A', {})).code).toBe('invalid_request');
});

it('the API refuses list requests with a limit outside 1 to 100, an invalid cursor, or an unknown filter', async () => {
  const lists = ['invoices', 'payments', 'events', 'reviews', 'ledger', 'audit'];
  for (const list of lists) {
    for (const limit of ['0', '101', '-1', '1.5', 'ten', '', '1e1', '٣', '1&limit=2']) {
      expect((await refused(400, 'GET', `/v1/${list}?limit=${limit}`, {})).errors[0]?.field).toBe('limit');
    }
    for (const cursor of ['x', '-1', '9'.repeat(30), "1'", '%00']) {
      expect((await refused(400, 'GET', `/v1/${list}?cursor=${cursor}`, {})).errors[0]?.field).toBe('cursor');
    }
    for (const limit of ['1', '100']) expect((await api.call('GET', `/v1/${list}?limit=${limit}`)).status).toBe(200);
  }
  for (const [list, field] of [
    ['invoices', 'status'],
    ['payments', 'status'],
    ['events', 'status'],
    ['events', 'source'],
    ['reviews', 'status'],
    ['reviews', 'kind'],
  ] as const) {
    expect((await refused(400, 'GET', `/v1/${list}?${field}=nonsense`, {})).errors[0]?.field).toBe(field);
    expect((await refused(400, 'GET', `/v1/${list}?${field}=open&${field}=paid`, {})).errors[0]?.field).toBe(field);
  }
  expect((await refused(400, 'GET', '/v1/events?event_id=%00', {})).errors[0]?.field).toBe('event_id');
  expect((await refused(400, 'GET', '/v1/invoices?utm_source=x', {})).errors[0]?.field).toBe('utm_source');
});

it("the API's responses forbid caching, framing and reading by other sites", async () => {
  const { headers } = await api.call('GET', '/v1/invoices');
  expect(headers.get('x-powered-by')).toBeNull();
  expect(headers.get('etag')).toBeNull();
  expect(headers.get('cache-control')).toBe('no-store');
  expect(headers.get('x-content-type-options')).toBe('nosniff');
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('access-control-allow-origin')).toBeNull();
});

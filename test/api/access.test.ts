// Who may enter, and the answers and records for everybody else.
import { expect, it } from '@jest/globals';
import { type ApiApp, apiForAll, KEYS } from './support/api-app.js';

let api: ApiApp;
apiForAll((started) => (api = started));

type Row = Record<string, unknown>;
async function audit(action: string): Promise<Row[]> {
  return (await api.call('GET', `/v1/audit?limit=100&action=${action}`)).json['data'] as Row[];
}

it("the API answers a request without a valid key with 401, and the audit trail has the client's address", async () => {
  const bad: Record<string, string>[] = [
    {},
    { authorization: 'Bearer wrong-key-0123456789abcdef0123456789' },
    { authorization: `Basic ${KEYS.ops}` },
    { authorization: KEYS.ops },
    { authorization: `Bearer ${KEYS.ops}x` },
    { authorization: `Bearer ${KEYS.ops.toUpperCase()}` },
    { authorization: 'Bearer ' },
  ];
  for (const headers of bad) {
    const reply = await api.call('GET', '/v1/payments/pay_x', {
      role: null,
      headers: { ...headers, 'x-forwarded-for': '203.0.113.9' },
    });
    expect(reply.status).toBe(401);
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
    expect(reply.json).toEqual({ code: 'unauthorized', message: expect.any(String), errors: [] });
  }
  const rows = await audit('payment.read');
  expect(rows).toHaveLength(bad.length);
  for (const row of rows) {
    expect(row).toMatchObject({ actor: 'unknown', role: null, target: 'pay_x', outcome: 'denied', status: 401 });
    expect(row['source']).toMatch(/127\.0\.0\.1$/);
  }
});

it.each(['Ada Lovelace', 'ada@example.com', 'ada lovelace, in_1'])(
  'the audit trail keeps no text that a caller put in place of an id: %s',
  async (text) => {
    const path = `/v1/customers/${encodeURIComponent(text)}/payment-method`;
    await api.call('POST', path, { role: 'signup', body: {} });
    await api.call('POST', path, { role: 'read', body: {} });
    await api.call('POST', path, { role: null, body: {} });
    const rows = (await audit('payment_method.create')).slice(0, 3);
    expect(rows.map((r) => r['target'])).toEqual(['(no id)', '(no id)', '(no id)']);
  },
);

it('the API refuses a wrong key before it reads the request body', async () => {
  const reply = await api.call('POST', '/v1/signups', { role: null, raw: '{' });
  expect(reply.status).toBe(401);
});

it('the audit trail stores at most 100 of 400 requests without a key', async () => {
  for (let i = 0; i < 400; i++) {
    expect((await api.call('GET', '/v1/ledger', { role: null })).status).toBe(401);
  }
  const rows = await api.db.pool.query(`select 1 from audit where action = 'ledger.list'`);
  expect(rows.rowCount).toBeLessThanOrEqual(100);
});

it('the API refuses a refund request with a read or signup key, records the attempt, and makes no call to the MoR', async () => {
  const { paymentId } = await api.paidRenewal('roles');
  for (const role of ['read', 'signup'] as const) {
    const reply = await api.call('POST', `/v1/payments/${paymentId}/refunds`, {
      role,
      body: {},
      headers: { 'idempotency-key': 'k' },
    });
    expect(reply.status).toBe(403);
    expect(reply.json['code']).toBe('forbidden');
  }
  const rows = await audit('refund.create');
  expect(rows.map((r) => [r['actor'], r['role'], r['outcome'], r['status'], r['target']])).toEqual([
    ['signup-name', 'signup', 'denied', 403, paymentId],
    ['read-name', 'read', 'denied', 403, paymentId],
  ]);
  expect(api.mor.calls.filter((c) => c.call.kind === 'create_refund')).toEqual([]);
});

it('each API role has the rights of the lower roles, and only the role `ops` may read the audit trail', async () => {
  const status = async (role: 'read' | 'signup' | 'ops', path: string): Promise<number> =>
    (await api.call('GET', path, { role })).status;
  expect(await status('read', '/v1/invoices')).toBe(200);
  expect(await status('signup', '/v1/invoices')).toBe(200);
  expect(await status('ops', '/v1/invoices')).toBe(200);
  expect(await status('read', '/v1/audit')).toBe(403);
  expect(await status('signup', '/v1/audit')).toBe(403);
  expect(await status('ops', '/v1/audit')).toBe(200);
  expect((await api.call('POST', '/v1/signups', { role: 'read', body: {} })).status).toBe(403);
});

it('the API answers a request without a key with 401, except on its health routes', async () => {
  expect((await api.call('GET', '/livez', { role: null })).status).toBe(200);
  const document = (await api.call('GET', '/docs-json', { role: null })).json as { paths: Record<string, Row> };
  const open = new Set(['/livez', '/readyz', '/metrics']);
  for (const [path, methods] of Object.entries(document.paths)) {
    for (const method of Object.keys(methods)) {
      const reply = await api.call(method.toUpperCase(), path.replace(/\{\w+\}/g, 'x'), { role: null });
      expect([path, reply.status]).toEqual([path, open.has(path) ? 200 : 401]);
    }
  }
});

it('the OpenAPI document names the role and the possible refusals of each API route behind a key', async () => {
  const document = (await api.call('GET', '/docs-json', { role: null })).json as {
    paths: Record<string, Record<string, { 'x-role'?: string; responses: Row; security?: unknown; summary?: string }>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, m]) =>
    Object.entries(m).map(([verb, op]) => ({ path, verb, op })),
  );
  expect(routes.length).toBeGreaterThan(18);
  for (const { path, op } of routes.filter((r) => r.path.startsWith('/v1'))) {
    expect([path, op['x-role']]).toEqual([path, expect.stringMatching(/^(read|signup|ops)$/)]);
    expect(op.security).toEqual([{ 'api-key': [] }]);
    expect(Object.keys(op.responses)).toEqual(expect.arrayContaining(['401', '403']));
    expect(op.summary).toMatch(/\(role: (read|signup|ops)\)$/);
  }
  const page = await api.call('GET', '/docs', { role: null });
  expect(page.status).toBe(200);
  expect(page.text).not.toMatch(/https?:\/\/(?!127\.0\.0\.1)[^"' ]*\.(js|css)/);
});

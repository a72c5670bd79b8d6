// Alive, ready, measured; and the callers' answers without a database.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import pg from 'pg';
import { Readiness } from '../../src/core/health/readiness.js';
import { ApiApp, freshDatabase, KEYS } from './support/api-app.js';
import { type TestDatabase } from '../support/rigs/database.js';

let database: TestDatabase;
let api: ApiApp;
beforeAll(async () => {
  database = await freshDatabase();
  api = await ApiApp.start(database.url);
});
afterAll(async () => {
  await api?.stop();
});

const open = (path: string) => api.call('GET', path, { role: null });

it('the API reports the daemon ready after its start, and not ready while the daemon stops', async () => {
  expect((await open('/livez')).json).toEqual({ status: 'ok' });
  expect([(await open('/readyz')).status, (await open('/readyz')).json]).toEqual([200, { status: 'ok' }]);
  api.app.get(Readiness).set(false, 'stopping');
  const stopping = await open('/readyz');
  expect([stopping.status, stopping.json]).toEqual([503, { status: 'stopping' }]);
  expect((await open('/livez')).status).toBe(200);
  api.app.get(Readiness).set(true, 'ready');
});

it('the API reports the daemon not ready while its database is read-only, and ready again afterwards', async () => {
  const admin = new pg.Client({ connectionString: database.url });
  await admin.connect();
  const name = new URL(database.url).pathname.slice(1);
  const become = async (to: 'on' | 'off'): Promise<void> => {
    await admin.query('set default_transaction_read_only = off');
    await admin.query(`alter database ${name} set default_transaction_read_only = ${to}`);
    await admin.query(`select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and pid <> pg_backend_pid()`);
  };
  const replies = async (status: number): Promise<Record<string, unknown>> => {
    // A pool may notice an ended connection only when it uses it.
    for (;;) {
      const seen = await open('/readyz');
      if (seen.status === status) return seen.json;
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  await become('on');
  expect(await replies(503)).toEqual({ status: 'database' });
  await become('off');
  expect(await replies(200)).toEqual({ status: 'ok' });
  await admin.end();
});

it('the metrics route counts waiting events and shows no API key', async () => {
  await api.db.pool
    .query(`insert into inbox_event (source, event_id, type, lane, body_sha256, status, received_at, next_try_at)
      values ('stripe', 'evt_w', 'invoice.created', 'in_w', '\\x00', 'received', now() - interval '90 seconds', now())`);
  await api.db.pool.query(`insert into lane (key, due_at) values ('in_w', now())`); // as intake does with every event
  const page = await open('/metrics');
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toMatch(/^text\/plain/);
  expect(page.text).toContain('crossbill_queue_depth{queue="inbox"} 1');
  expect(Number(/^crossbill_queue_oldest_age_seconds (\S+)/m.exec(page.text)?.[1])).toBeGreaterThanOrEqual(90);
  for (const key of Object.values(KEYS)) expect(page.text).not.toContain(key);
});

it('without its database the API stays alive, answers 503 to a request with a valid key, and 401 to a request without a key', async () => {
  await database.drop();
  expect((await open('/livez')).status).toBe(200);
  const ready = await open('/readyz');
  expect([ready.status, ready.json]).toEqual([503, { status: 'database' }]);
  expect((await open('/metrics')).status).toBe(200);
  expect((await api.call('GET', '/v1/invoices', { role: null })).status).toBe(401);
  for (const path of ['/v1/invoices', '/v1/payments/pay_1', '/v1/audit']) {
    const reply = await api.call('GET', path);
    expect([path, reply.status, reply.json]).toEqual([
      path,
      503,
      { code: 'unavailable', message: expect.any(String), errors: [] },
    ]);
    expect(reply.headers.get('retry-after')).toBe('1');
  }
  const refund = await api.call('POST', '/v1/payments/pay_1/refunds', {
    body: {},
    headers: { 'idempotency-key': 'k' },
  });
  expect(refund.status).toBe(503);
});

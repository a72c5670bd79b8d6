// The cost of a renewal, from its stored events to the confirmed mark: counts, since times depend on the machine. They may only fall.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Session } from 'node:inspector/promises';
import { type PathResult, drain, storeRenewals } from '../../packages/bench/src/whole-path.js';
import { Database } from '../../src/frames/store/database.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

/** More than a claim takes, so that claims and steps of many lanes share their statements as under load. */
const RENEWALS = 512;
const LANES = 64;

let fresh: TestDatabase;
let db: Database;
let path: PathResult;
/** By V8's coverage. */
let passed: { readonly files: number; readonly functions: number };
const sent = new Map<string, number>();

beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
  await storeRenewals(db, 0, RENEWALS);
  const heard = new WeakSet();
  db.pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const hear = (...args: unknown[]): unknown => {
      const [first] = args;
      const asked = typeof first === 'object' && first !== null ? (first as { name?: string; text: string }) : null;
      const name = (asked?.name ?? asked?.text ?? String(first)).trim().slice(0, 60);
      sent.set(name, (sent.get(name) ?? 0) + 1);
      return query(...args);
    };
    Object.assign(client, { query: hear });
  });
  await drain(db, RENEWALS, LANES, null); // code is compiled and statements are prepared
  await storeRenewals(db, RENEWALS, RENEWALS);
  sent.clear();
  const inspector = new Session();
  inspector.connect();
  await inspector.post('Profiler.enable');
  await inspector.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  path = await drain(db, RENEWALS, LANES, null);
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  const ours = result.filter(
    ({ url }) => /^(file:\/\/)?\/.*\/src\/(?!.*node_modules)/.test(url) && !url.includes('/packages/'),
  );
  const called = ours.map(
    ({ functions }) => functions.filter((f) => f.functionName !== '' && (f.ranges[0]?.count ?? 0) > 0).length,
  );
  passed = { files: called.filter((n) => n > 0).length, functions: called.reduce((a, b) => a + b, 0) };
}, 120_000);

afterAll(async () => {
  await db.close();
  await fresh.drop();
});

/** Statements by their names, without the test's own. */
const isOfTest = (name: string): boolean => /^(select|discard)/.test(name);
const statements = (): number => [...sent].reduce((sum, [name, n]) => sum + (isOfTest(name) ? 0 : n), 0) / RENEWALS;

it('a renewal costs at most 11 row writes, and shares commits and statements with at least three other renewals', () => {
  expect(path.written.rows).toBeLessThan(11.5); // on a slow machine some leases are renewed
  expect(path.written.commits).toBeLessThanOrEqual(0.25); // 0.17 on a quiet machine; lanes share fewer commits on a busy one
  expect(statements()).toBeLessThanOrEqual(0.25);
});

it('a renewal runs through at most 61 files and 300 functions of the daemon', () => {
  expect(passed.files).toBeLessThanOrEqual(61); // 60 on a quiet machine
  expect(passed.functions).toBeLessThanOrEqual(300);
});

// The cost of a renewal, from its stored events to the confirmed mark: counts, since times depend on the machine. They may only fall.
import { afterAll, beforeAll, expect, it, jest } from '@jest/globals';
import { Session } from 'node:inspector/promises';
import { type PathResult, drain, storeRenewals } from '../../packages/bench/src/whole-path.js';
import { Database } from '../../src/frames/store/database.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';

/** More than a claim takes, so that claims and steps of many lanes share their statements as under load. */
const RENEWALS = 512;
const LANES = 64;

let fresh: TestDatabase;
let db: Database;
let path: PathResult;
/** By V8's coverage. */
let passed: { readonly files: number; readonly functions: number };
const sent = new Map<string, number>();
/** The calls of `JSON.parse`. */
let parses: number;
let logged: { readonly rows: number; readonly bytes: number };

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
  const parse = jest.spyOn(JSON, 'parse');
  path = await drain(db, RENEWALS, LANES, null);
  parses = parse.mock.calls.length;
  parse.mockRestore();
  logged = await loggedBy(RENEWALS);
  const { result } = await inspector.post('Profiler.takePreciseCoverage');
  inspector.disconnect();
  const ours = result.filter(
    ({ url }) => /^(file:\/\/)?\/.*\/src\/(?!.*node_modules)/.test(url) && !url.includes('/packages/'),
  );
  // Fewer calls than batches of lanes: the function belongs to the start, to a slow machine, or to a new set of parts.
  const called = ours.map(
    ({ functions }) =>
      functions.filter((f) => f.functionName !== '' && (f.ranges[0]?.count ?? 0) >= RENEWALS / LANES).length,
  );
  console.log(
    called.filter((n) => n > 0).length,
    called.reduce((a, b) => a + b, 0),
  );
  passed = { files: called.filter((n) => n > 0).length, functions: called.reduce((a, b) => a + b, 0) };
}, 120_000);

afterAll(async () => {
  await db.close();
  await fresh.drop();
});

/** What the log has of renewals from this number on. The bytes of the server's own log would depend on its checkpoints. */
async function loggedBy(from: number): Promise<{ rows: number; bytes: number }> {
  const { rows } = await db.pool.query<{ rows: number; bytes: number }>(
    `select count(*)::float8 as rows, sum(octet_length(change::text) + coalesce(octet_length(bodies::text), 0))::float8 as bytes
       from lane_log where substr(lane, length('in_bench') + 1)::int >= $1`,
    [from],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('the server has counted nothing');
  return row;
}

/** Statements by their names, without the test's own. */
const isOfTest = (name: string): boolean => /^(select|discard)/.test(name);
const statements = (): number => [...sent].reduce((sum, [name, n]) => sum + (isOfTest(name) ? 0 : n), 0) / RENEWALS;

it('a renewal costs at most 11 row writes, and shares commits and statements with at least three other renewals', () => {
  expect(path.written.rows).toBeLessThan(11.5); // on a slow machine some leases are renewed
  expect(path.written.commits).toBeLessThanOrEqual(0.25); // 0.17 on a quiet machine; lanes share fewer commits on a busy one
  expect(statements()).toBeLessThanOrEqual(0.25);
});

it('a renewal has three rows in the log of its lane, with 5,400 bytes at most', () => {
  expect(logged.rows / RENEWALS).toBe(3);
  expect(logged.bytes / RENEWALS).toBeLessThanOrEqual(5400);
});

it('a renewal parses the JSON of its two webhooks, and no other JSON', () => {
  expect(parses / RENEWALS).toBe(2);
});

it('a renewal runs through at most 74 files and 288 functions of the daemon', () => {
  expect(passed.files).toBeLessThanOrEqual(74);
  expect(passed.functions).toBeLessThanOrEqual(288);
});

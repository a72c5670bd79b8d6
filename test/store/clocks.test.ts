// A replica with a clock wrong by minutes: its leases and delays go by the database's time, for itself and for others.
import { LEASE_MS } from '../../src/shared/policy.js';
import { expect, it } from '@jest/globals';
import { DecisionContext } from '../../src/engine/decision-context.js';
import { LaneSignal } from '../../src/engine/lane-signal.js';
import { WorkLaneService } from '../../src/engine/work-lane.service.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { SignupsRepository } from '../../src/core/signups/signups.repository.js';
import { PgAuditLog } from '../../src/frames/store/audit-log.js';
import { EndpointsLogRepository } from '../../src/features/verify/endpoints-log.repository.js';
import { type BillingReader } from '../../src/shared/domain/ports/billing-reader.js';
import { VerifyService } from '../../src/features/verify/verify.service.js';
import { VerifyRepository } from '../../src/features/verify/verify.repository.js';
import { LaneWorker } from '../../src/engine/lane-worker.js';
import { aPaymentSucceeded, anInvoice, INVOICE_ID, SETTINGS } from '../support/builders/events.js';
import { ManualClock, SeededRng } from '../support/fakes/clock.js';
import { NoChannels } from '../support/fakes/no-channels.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { parsedEvents } from '../support/fakes/parsed-events.js';

const AHEAD_MS = 240_000;
const NO_REPLY = {
  ok: false,
  kind: 'retry',
  status: null,
  code: null,
  message: 'down',
  errors: [],
  requestId: null,
} as const;
const LEASE_PROMISED_MS = 30_000;

let x: LaneOnPostgres;
let ahead: ManualClock;
laneForEach((opened) => {
  x = opened;
  ahead = new ManualClock(new Date(x.harness.clock.now().getTime() + AHEAD_MS));
});

/** A worker of the replica with a fast clock; the database keeps its own time. */
function workerAhead(): LaneWorker {
  const { ids, platform, gateway, relay } = x.harness;
  const repository = new PgLaneRepository(x.db, x.harness.clock, { parsed: parsedEvents() });
  const context = new DecisionContext(
    SETTINGS,
    ahead,
    new SeededRng(),
    ids,
    platform,
    gateway,
    x.harness.context.decider,
  );
  const service = new WorkLaneService(
    repository,
    platform,
    gateway,
    relay,
    context,
    { expected: null },
    new NoChannels(),
  );
  const options = { owner: 'ahead', concurrency: 4, leaseMs: LEASE_MS, pollMs: 60_000 };
  return new LaneWorker(repository, service, new LaneSignal(), ahead, options);
}

async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await holds())) await new Promise((resolve) => setTimeout(resolve, 2));
}

it("another replica takes over a dead replica's invoice within 30 s, even if the dead replica's clock was fast", async () => {
  const { harness } = x;
  let asked = false;
  harness.platform.readInvoice = () => {
    asked = true;
    return new Promise(() => undefined); // it dies while it waits for Stripe
  };
  await harness.deliver(aPaymentSucceeded());
  workerAhead().start();
  await until(() => asked);
  const other = new PgLaneRepository(x.db, harness.clock, { parsed: parsedEvents() });
  expect(await other.claim('other', 5, LEASE_MS)).toEqual([]);
  harness.clock.advance(LEASE_PROMISED_MS);
  expect((await other.claim('other', 5, LEASE_MS)).map((c) => c.lane)).toEqual([INVOICE_ID]);
});

it('a replica with a fast clock retries a call to Stripe after the same wait as a replica with a right clock', async () => {
  const { harness, db } = x;
  harness.platform.put(anInvoice());
  harness.platform.fail('report_payment', 'retry');
  await harness.deliver(aPaymentSucceeded());
  const worker = workerAhead();
  worker.start();
  const due = async (): Promise<number | null> => {
    const sql = `select l.due_at from lane l join open_call m on m.lane = l.key
                    where m.status = 'pending' and m.attempts = 1 and l.lease_until is null and l.due_at = m.next_try_at`;
    return (await db.pool.query<{ due_at: Date }>(sql)).rows[0]?.due_at.getTime() ?? null;
  };
  await until(async () => (await due()) !== null);
  await worker.stop();
  const waitMs = ((await due()) ?? 0) - harness.clock.now().getTime();
  expect(waitMs).toBeGreaterThan(0);
  expect(waitMs).toBeLessThanOrEqual(2_000);
  harness.clock.advance(waitMs);
  await harness.drain(); // by a replica with a right clock
  expect(harness.platform.effects).toEqual({ report_payment: 1, attach_payment: 1 });
});

it("the database's clock, not the daemon's, stamps audit entries, verify runs and the opening of the webhook endpoints", async () => {
  const { db, harness } = x;
  const time = new ServerTime();
  await new EndpointsLogRepository(db, time).opened('open_1');
  const entry = { actor: 'ops', role: 'ops', action: 'refund.create', target: null, source: '::1' };
  await new PgAuditLog(db, time).write({ ...entry, outcome: 'begun', status: 0, detail: null });
  // A run of the replica with the wrong clock; Stripe does not answer, and the run ends at once.
  const { ids, platform, gateway } = harness;
  const context = new DecisionContext(
    SETTINGS,
    ahead,
    new SeededRng(),
    ids,
    platform,
    gateway,
    x.harness.context.decider,
  );
  ahead.selfMoving = true; // repeats wait no longer than a moment
  const books = new VerifyRepository(db, time);
  const down: unknown = new Proxy({}, { get: () => () => Promise.resolve(NO_REPLY) });
  const inbox = new PgInbox(db, time);
  const lanes = new PgLaneRepository(db, time, { parsed: parsedEvents() });
  const verify = new VerifyService(
    books,
    down as BillingReader,
    platform,
    gateway,
    inbox,
    lanes,
    context,
    new LaneSignal(),
    ids,
  );
  expect(await verify.run({ since: new Date(Date.now() - 86_400_000) })).toMatchObject({ outcome: 'incomplete' });
  const { rows } = await db.pool.query<{ off: number }>(
    `select abs(extract(epoch from clock_timestamp() - t.at))::float8 as off from (
         select opened_at as at from endpoints_open union all select seen_at from endpoints_open union all select at from audit
         union all select started_at from verify_run union all select began_at from verify_run
         union all select finished_at from verify_run) t`,
  );
  expect(rows).toHaveLength(6);
  for (const { off } of rows) expect(off).toBeLessThan(60);
});

it("the database's clock, not the daemon's, stamps leases, received events and the daily verify run", async () => {
  const { db } = x;
  const time = new ServerTime();
  const wrong = new Date(Date.now() + AHEAD_MS);
  const lanes = new PgLaneRepository(db, time, { parsed: parsedEvents() });
  await new PgInbox(db, time).store([{ ...aPaymentSucceeded(), receivedAt: wrong }]);
  const [claim] = await lanes.claim('w', 5, LEASE_MS);
  await new VerifyRepository(db, time).claimRun(60_000);
  const { rows } = await db.pool.query<{ key: string; left: number }>(
    `select key, extract(epoch from lease_until - clock_timestamp())::float8 as left from lane order by key`,
  );
  expect(rows.map((r) => r.key)).toEqual([INVOICE_ID, 'job:verify']);
  const [lease, run] = rows.map((r) => r.left);
  expect(lease).toBeGreaterThan(0);
  expect(lease).toBeLessThanOrEqual(LEASE_MS / 1_000);
  expect(run).toBeLessThanOrEqual(60);
  const arrived = await db.pool.query(
    `select 1 from inbox_event where received_at <= clock_timestamp() and next_try_at <= clock_timestamp()`,
  );
  expect(arrived.rowCount).toBe(1);
  await lanes.release(INVOICE_ID, claim?.fence ?? 0n, 5_000);
  const due = await db.pool.query(
    `select 1 from lane where due_at > clock_timestamp() and due_at <= clock_timestamp() + interval '5 seconds'`,
  );
  expect(due.rowCount).toBe(1);
  expect(await new SignupsRepository(db, time).claim('sup_none', 1_000)).toBe(false);
});

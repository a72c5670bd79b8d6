// The whole path without a network: stored events become confirmed marks through the real flows on real PostgreSQL.
import { FlowContext } from '../flows/flow-context.js';
import { Wake } from '../flows/wake.js';
import { WorkLaneFlow } from '../flows/work-lane.flow.js';
import { type Database } from '../store/database.js';
import { PgInbox } from '../store/inbox-store.js';
import { PgLaneStore } from '../store/lane-store.js';
import { LEASE_MS } from '../store/lane-transactions.js';
import { SystemClock, SystemIds, SystemRng } from '../system/system-ports.js';
import { LaneWorker } from '../workers/lane-worker.js';
import { invoiceCreated, paymentSucceeded } from './events.js';
import { InstantPlatform, NoGateway, NoRelay } from './peers.js';

export type WorkerOptions = { readonly delayMs: number; readonly concurrency: number; readonly onDone?: () => void };

/** The real worker and flows with peers that answer after `delayMs`. */
export function makeWorker(
  db: Database,
  wake: Wake,
  o: WorkerOptions,
): { worker: LaneWorker; platform: InstantPlatform } {
  const clock = new SystemClock();
  const platform = new InstantPlatform(o.delayMs);
  const gateway = new NoGateway();
  const settings = {
    markMode: 'payment_record',
    draftPolicy: 'wait',
    renewalAlarmAfterHours: 24,
    signupChargeCheck: 'off',
    relay: false,
    morProduct: 'mor',
    recoveryLinks: null,
  } as const;
  const context = new FlowContext(settings, clock, new SystemRng(), new SystemIds(), platform, gateway);
  const store = new PgLaneStore(db, clock);
  // The MoR's other channels have no part in a card renewal.
  const none = {} as never;
  const flow = new WorkLaneFlow(store, platform, gateway, new NoRelay(), context, { expected: null }, none, none);
  const worker = new LaneWorker(store, flow, wake, clock, {
    owner: 'bench',
    concurrency: o.concurrency,
    leaseMs: LEASE_MS,
    pollMs: 200,
    onDone: () => o.onDone?.(),
    onError: (what, e) => console.error(what, e),
  });
  return { worker, platform };
}

/** Puts renewals into the inbox: the invoice and the money for it. */
export async function storeRenewals(db: Database, from: number, count: number): Promise<void> {
  const inbox = new PgInbox(db, new SystemIds());
  const receivedAt = new Date();
  for (let n = from; n < from + count; n += 250) {
    const numbers = Array.from({ length: Math.min(250, from + count - n) }, (_, i) => n + i);
    const one = { receivedAt, status: 'received', reason: null } as const;
    await inbox.store(
      numbers.flatMap((i) => [
        {
          ...one,
          source: 'stripe',
          eventId: `evt_bench${i}`,
          type: 'invoice.created',
          lane: `in_bench${i}`,
          body: invoiceCreated(i),
        },
        {
          ...one,
          source: 'mor_payments',
          eventId: `evt_pay_bench${i}`,
          type: 'payment.succeeded',
          lane: `in_bench${i}`,
          body: paymentSucceeded(i),
        },
      ]),
    );
  }
}

export type PathResult = {
  readonly renewals: number;
  readonly perSecond: number;
  readonly callsPerRenewal: number;
  readonly commitsPerRenewal: number;
};

/** Drains what was stored and takes the time from the first claim to the last confirmed mark. */
export async function drain(db: Database, count: number, delayMs: number, concurrency: number): Promise<PathResult> {
  const wake = new Wake();
  let finish: (() => void) | null = null;
  const { worker, platform } = makeWorker(db, wake, {
    delayMs,
    concurrency,
    onDone: () => {
      if (platform.attached >= count) finish?.();
    },
  });
  const done = new Promise<void>((resolve) => (finish = resolve));
  const before = await commits(db);
  const began = performance.now();
  worker.start();
  await done;
  const seconds = (performance.now() - began) / 1000;
  await worker.stop();
  const after = await commits(db);
  const marked = await db.pool.query<{ n: string }>(`select count(*) as n from payment where mark = 'confirmed'`);
  if (Number(marked.rows[0]?.n) < count) throw new Error('not every renewal was marked');
  return {
    renewals: count,
    perSecond: count / seconds,
    callsPerRenewal: platform.calls / count,
    commitsPerRenewal: (after - before) / count,
  };
}

async function commits(db: Database): Promise<number> {
  await db.pool.query('select pg_stat_force_next_flush()');
  const found = await db.pool.query<{ n: string }>(
    `select xact_commit as n from pg_stat_database where datname = current_database()`,
  );
  return Number(found.rows[0]?.n ?? 0);
}

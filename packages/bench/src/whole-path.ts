// The whole-path benchmark: stored events become confirmed marks through the real services, the real `stripe` package and
// a real PostgreSQL.
import { type BillingPlatform } from '#src/shared/domain/ports/billing-platform.js';
import { Decisions } from '#src/core/lanes/decisions.js';
import { DecisionContext } from '#src/engine/decision-context.js';
import { eventParser } from '#src/core/events/event-parser.js';
import { ParsedEvents } from '#src/engine/parsed-events.js';
import { LaneSignal } from '#src/engine/lane-signal.js';
import { WorkLaneService } from '#src/engine/work-lane.service.js';
import { ServerTime } from '#src/frames/store/database-time.js';
import { type Database } from '#src/frames/store/database.js';
import { PgInbox } from '#src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '#src/engine/pg-lane.repository.js';
import { GATHER_MS, LEASE_MS } from '#src/shared/policy.js';
import { PgRequestBudget } from '#src/frames/store/pg-request-budget.js';
import { StripeBillingPlatform } from '#src/frames/stripe/stripe-billing-platform.js';
import { StripeClient } from '#src/frames/stripe/stripe-client.js';
import { SystemClock, SystemIds, SystemRng } from '#src/engine/system-ports.js';
import { LaneWorker } from '#src/engine/lane-worker.js';
import { invoiceCreated, paymentSucceeded } from './events.js';
import { perRenewal, type Written, writtenBy } from './written.js';
import { InstantPlatform } from './peers.js';

export const BENCH_SETTINGS = {
  markMode: 'payment_record',
  draftPolicy: 'wait',
  renewalAlarmAfterHours: 24,
  bankDebitAlarmAfterDays: 10,
  signupChargeCheck: 'off',
  relay: null,
  recoveryLinks: null,
  retrySchedule: null,
} as const;

export type WorkerOptions = {
  readonly concurrency: number;
  /** The address of the bench's Stripe; null: an instant fake inside this process. */
  readonly peerUrl: string | null;
  /** The events that the webhook endpoints of this process have parsed. */
  readonly parsed?: ParsedEvents;
  readonly onDone?: () => void;
};

/** Requests per second: too many to ever limit a measurement. */
const NO_LIMIT = 1_000_000;

/** The real adapter with the real request budget, connected to the bench's Stripe. */
export function stripeOf(db: Database, peerUrl: string, maxSockets: number): StripeClient {
  const options = { apiKey: 'sk_test_bench', apiBase: peerUrl, customPaymentMethodType: null, maxSockets };
  return new StripeClient(options, new PgRequestBudget(db, new SystemClock(), new ServerTime(), NO_LIMIT));
}

/** The real worker with the real services. */
export function makeWorker(db: Database, signal: LaneSignal, options: WorkerOptions): LaneWorker {
  const clock = new SystemClock();
  const platform: BillingPlatform =
    options.peerUrl === null
      ? new InstantPlatform()
      : new StripeBillingPlatform(stripeOf(db, options.peerUrl, options.concurrency), null);
  // The MoR takes no part in the mark of a card renewal.
  const none = {} as never;
  const decider = new Decisions(none, none);
  const { writes } = decider.subjects;
  const repository = new PgLaneRepository(db, new ServerTime(), {
    writes,
    gatherMs: GATHER_MS,
    parsed: options.parsed ?? new ParsedEvents(eventParser),
  });
  const context = new DecisionContext(BENCH_SETTINGS, clock, new SystemRng(), new SystemIds(), platform, none, decider);
  const service = new WorkLaneService(repository, platform, none, none, context, { expected: null }, none);
  return new LaneWorker(repository, service, signal, clock, {
    owner: `bench:${process.pid}`,
    concurrency: options.concurrency,
    leaseMs: LEASE_MS,
    pollMs: 200,
    onDone: () => options.onDone?.(),
    onError: (what, e) => console.error(what, e),
  });
}

/** Stores the events of renewals in the inbox: the invoice and its payment. */
export async function storeRenewals(db: Database, from: number, count: number): Promise<void> {
  const inbox = new PgInbox(db, new ServerTime());
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
  /** The database's writes from the first claim on, without the writes of intake. */
  readonly written: Written;
  /** Processor time of this process, in milliseconds. */
  readonly cpuMsPerRenewal: number;
};

/** The counters of the bench's Stripe. */
export type Seen = {
  readonly calls: number;
  /** Repeats of a call under the same key, without a second effect. */
  readonly repeats: number;
  /** Second effects. Must be 0. */
  readonly twice: number;
  readonly reports: number;
  readonly attached: number;
};

export async function seenBy(peerUrl: string): Promise<Seen> {
  return (await (await fetch(`${peerUrl}/_seen`)).json()) as Seen;
}

/** Drains the stored events. Measures from the first claim to the last confirmed mark. */
export async function drain(
  db: Database,
  count: number,
  concurrency: number,
  peerUrl: string | null,
): Promise<PathResult> {
  const signal = new LaneSignal();
  let finish: (() => void) | null = null;
  let lanes = 0;
  const worker = makeWorker(db, signal, {
    peerUrl,
    concurrency,
    onDone: () => {
      if (++lanes >= count) finish?.();
    },
  });
  const done = new Promise<void>((resolve) => (finish = resolve));
  const before = await writtenBy(db);
  const callsBefore = peerUrl === null ? 0 : (await seenBy(peerUrl)).calls;
  const entriesBefore = await lastEntry(db);
  const [began, cpu] = [performance.now(), process.cpuUsage()];
  worker.start();
  await done;
  const seconds = (performance.now() - began) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await worker.stop();
  const written = perRenewal(before, await writtenBy(db), count);
  if ((await markedAfter(db, entriesBefore)) < count) throw new Error('not every renewal was marked');
  const calls = peerUrl === null ? 0 : (await seenBy(peerUrl)).calls - callsBefore;
  return {
    renewals: count,
    perSecond: count / seconds,
    callsPerRenewal: calls / count,
    commitsPerRenewal: written.commits,
    written,
    cpuMsPerRenewal: (user + system) / 1000 / count,
  };
}

async function lastEntry(db: Database): Promise<string> {
  const found = await db.pool.query<{ id: string | null }>('select max(id) as id from ledger_entry');
  return found.rows[0]?.id ?? '0';
}

async function markedAfter(db: Database, entry: string): Promise<number> {
  const found = await db.pool.query<{ n: string }>(
    `select count(*) as n from ledger_entry where id > $1 and reason = 'payment_marked'`,
    [entry],
  );
  return Number(found.rows[0]?.n);
}

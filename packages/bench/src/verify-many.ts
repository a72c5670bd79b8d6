// Verify over many invoices against an instant Stripe: its cost, its memory, and the cost of the second half of an
// interrupted run.
import { eventParser } from '#src/core/events/event-parser.js';
import { ParsedEvents } from '#src/engine/parsed-events.js';
import { Decisions } from '#src/core/lanes/decisions.js';
import { DecisionContext } from '#src/engine/decision-context.js';
import { VerifyService, type VerifyOptions, type VerifyReport } from '#src/features/verify/verify.service.js';
import { LaneSignal } from '#src/engine/lane-signal.js';
import { ServerTime } from '#src/frames/store/database-time.js';
import { Database } from '#src/frames/store/database.js';
import { PgInbox } from '#src/frames/store/inbox.repository.js';
import { PgLaneRepository } from '#src/engine/pg-lane.repository.js';
import { VerifyRepository } from '#src/features/verify/verify.repository.js';
import { StripeBillingPlatform } from '#src/frames/stripe/stripe-billing-platform.js';
import { StripeBillingReader } from '#src/frames/stripe/stripe-billing-reader.js';
import { SystemClock, SystemIds, SystemRng } from '#src/engine/system-ports.js';
import { memoryOf, type Rig, withPeer } from './rig.js';
import { BENCH_SETTINGS, seenBy, stripeOf } from './whole-path.js';

/** Invoices per statement: the pool cancels a statement after a few seconds. */
const FILL_AT_ONCE = 20_000;
const SINCE = new Date('2026-01-01');

export async function verifyMany(rig: Rig): Promise<void> {
  const count = Math.round(1_000_000 * rig.scale);
  await measured(rig, { listed: count }, async (service, db, calls) => {
    const began = performance.now();
    await fill(db, count);
    const filled = performance.now();
    const memory: number[] = [];
    const first = await cutAt(service, count / 2, memory, count);
    const [half, asked] = [performance.now(), await calls()];
    const second = await service.run({ since: SINCE, resume: true, onProgress: noted(memory, count) });
    const seconds = (performance.now() - filled) / 1000;
    const all = await calls();
    const { most } = await memoryOf(undefined);
    rig.table(`Verify of ${count} invoices, interrupted in the middle and resumed`, [
      { what: 'outcome', seen: `${first.outcome}, then ${second.outcome}` },
      { what: 'went on with the first', seen: String(second.resumedFrom === first.id) },
      { what: 'invoices compared', seen: second.compared['invoices'] ?? 0 },
      { what: 'invoices a second', seen: Math.round(count / seconds) },
      {
        what: 'seconds, of which the second half',
        seen: `${show(seconds)}, ${show(seconds - (half - filled) / 1000)}`,
      },
      { what: 'requests to Stripe, of which the second half', seen: `${all}, ${all - asked}` },
      { what: 'seconds at 20 requests a second', seen: Math.round(all / 20) },
      { what: 'memory MB at each tenth', seen: memory.join(' ') },
      { what: 'memory MB at most', seen: most },
      { what: 'seconds to fill', seen: show((filled - began) / 1000) },
    ]);
    rig.found['verify'] = {
      count,
      outcome: second.outcome,
      seconds,
      calls: all,
      secondHalf: all - asked,
      memory,
      most,
    };
  });
  await allMissing(rig, Math.round(200_000 * rig.scale));
}

/** Measures verify when the webhook endpoints received none of a day's events. */
async function allMissing(rig: Rig, events: number): Promise<void> {
  await measured(rig, { events }, async (service, _db, calls) => {
    const began = performance.now();
    const report = await service.run({ since: SINCE });
    const seconds = (performance.now() - began) / 1000;
    const { now, most } = await memoryOf(undefined);
    const counted = report.more.event_never_delivered ?? 0;
    rig.table(`Verify where ${events} events never came`, [
      { what: 'outcome', seen: report.outcome },
      { what: 'differences named, and counted', seen: `${report.differences.length}, ${counted}` },
      { what: 'seconds', seen: show(seconds) },
      { what: 'requests to Stripe', seen: await calls() },
      { what: 'memory MB, and at most', seen: `${now}, ${most}` },
    ]);
    rig.found['verifyMissing'] = { events, named: report.differences.length, counted, seconds, now, most };
  });
}

const show = (count: number): string => count.toFixed(0);

/** Records the memory after each tenth of the invoices. */
function noted(memory: number[], count: number, then: (done: number) => void = () => undefined): (seen: Seen) => void {
  let tenth = 0;
  return (n) => {
    const done = n['invoices'] ?? 0;
    if (Math.floor((10 * done) / count) !== tenth) memory.push(Math.round(process.memoryUsage().rss / 1_048_576));
    tenth = Math.floor((10 * done) / count);
    then(done);
  };
}
type Seen = Parameters<NonNullable<VerifyOptions['onProgress']>>[0];

function cutAt(service: VerifyService, at: number, memory: number[], count: number): Promise<VerifyReport> {
  const cut = new AbortController();
  const onProgress = noted(memory, count, (done) => {
    if (done >= at) cut.abort();
  });
  return service.run({ since: SINCE, signal: cut.signal, onProgress });
}

async function measured(
  rig: Rig,
  lists: { readonly listed?: number; readonly events?: number },
  work: (service: VerifyService, db: Database, calls: () => Promise<number>) => Promise<void>,
): Promise<void> {
  await rig.fresh((url) =>
    withPeer(rig, { delayMs: 0, ...lists }, async (peerUrl) => {
      const db = await Database.open({ url, poolSize: 10, onError: (e) => console.error(e.message) });
      await work(verifyService(db, peerUrl), db, async () => (await seenBy(peerUrl)).calls);
      await db.close();
    }),
  );
}

/**
 * Writes the invoices of the bench's Stripe into the database: settled, each with its marked payment. Verify reads
 * nothing else about them.
 */
async function fill(db: Database, count: number): Promise<void> {
  const n = 'generate_series($1::int, $2::int) as n';
  const statements = [
    `insert into invoice (invoice_id, status, platform_status, first_seen_at) select 'in_old' || n, 'paid', 'paid', now() from ${n}`,
    `insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, mark, recorded_at)
       select 'pmt_old' || n, 'pay_old' || n, 'in_old' || n, 'cus_old', 'renewal', 'succeeded', 2990, 'EUR', 'confirmed', now() from ${n}`,
  ];
  for (let from = 1; from <= count; from += FILL_AT_ONCE) {
    for (const sql of statements) await db.pool.query(sql, [from, Math.min(count, from + FILL_AT_ONCE - 1)]);
  }
  for (const table of ['invoice', 'payment']) await db.pool.query(`analyze ${table}`);
}

function verifyService(db: Database, peerUrl: string): VerifyService {
  const [clock, ids] = [new SystemClock(), new SystemIds()];
  const stripe = stripeOf(db, peerUrl, 4);
  const platform = new StripeBillingPlatform(stripe, null);
  const none = {} as never; // verify needs no MoR for settled invoices
  const decider = new Decisions(none, none);
  const context = new DecisionContext(BENCH_SETTINGS, clock, new SystemRng(), ids, platform, none, decider);
  const time = new ServerTime();
  const [books, lanes, inbox] = [
    new VerifyRepository(db, time),
    new PgLaneRepository(db, time, { parsed: new ParsedEvents(eventParser) }),
    new PgInbox(db, time),
  ];
  return new VerifyService(
    books,
    new StripeBillingReader(stripe),
    platform,
    none,
    inbox,
    lanes,
    context,
    new LaneSignal(),
    ids,
  );
}

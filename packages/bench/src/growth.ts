// The growth benchmark: the cost of an event, a look-up, a list page and a timer's query on a database with no old
// rows, a million and ten million.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Delivery } from '#src/shared/domain/ports/inbox.js';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { ERASED_PARTS } from '#src/core/lanes/erased-parts.js';
import { ServerTime } from '#src/frames/store/database-time.js';
import { Database } from '#src/frames/store/database.js';
import { Erasure } from '#src/engine/erasure.js';
import { PgInbox } from '#src/frames/store/inbox.repository.js';
import { invoiceCreated } from './events.js';
import { fillDatabases, PER_RENEWAL, quiet, urlOf } from './filled.js';
import { type Question, questions } from './growth-questions.js';
import { meterOf, type Spent } from './meter.js';
import { type Rig, withPeer } from './rig.js';
import { drain, storeRenewals } from './whole-path.js';

const LEDGER_ROWS = [0, 1_000_000, 10_000_000];
/** Every round measures every database, so other work on the machine affects all of them alike. */
const ROUNDS = 24;
const RENEWALS = 100;
const BATCHES = 8;
const BATCH = 40;
const ASKS = 5;
const DAY_MS = 86_400_000;

/** At scale 1 this takes 27 GB of disk and forty minutes, mostly to write the old rows. */
export async function measureGrowth(rig: Rig): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'crossbill-growth-'));
  const sizes = LEDGER_ROWS.map((n) => Math.round(n * rig.scale));
  try {
    await fillDatabases(dataDir, sizes);
    await measureAt(dataDir, sizes, rig);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

/** Measures on a filled data folder, with the settings of a daemon's embedded server. */
async function measureAt(dataDir: string, sizes: readonly number[], rig: Rig): Promise<void> {
  const server = await startEmbeddedPostgres({ dataDir, log: quiet });
  const open: Database[] = [];
  try {
    const books: Books[] = [];
    for (const [i, rows] of sizes.entries()) {
      const connect = async (poolSize: number): Promise<Database> => {
        const url = urlOf(server.adminUrl, rows);
        const db = await Database.open({ url, poolSize, onError: (e) => console.error(e.message) });
        open.push(db);
        return db;
      };
      const next = (i + 1) * 100_000_000;
      const [db, asking] = [await connect(5), await connect(2)];
      await storeRenewals(db, next, RENEWALS);
      const asked = questions(asking, rows === 0 ? `bench${next}` : `old${middle(rows)}`, middle(rows));
      books.push({ rows, db, asking, asked, next: next + RENEWALS, seen: new Map() });
    }
    await withPeer(rig, { delayMs: 0 }, async (peerUrl) => {
      for (const b of books) await round(b, peerUrl); // warms plans and caches
      for (const b of books) b.seen.clear();
      for (let n = 0; n < ROUNDS; n++) {
        for (let i = 0; i < books.length; i++) {
          const b = books[(n + i) % books.length];
          if (b !== undefined) await round(b, peerUrl);
        }
      }
    });
    tell(rig, books);
    const largest = books.at(-1);
    if (largest !== undefined) await tellPurge(rig, largest);
  } finally {
    await Promise.all(open.map((db) => db.close()));
    await server.stop();
  }
}

/** The number of an old renewal with a refund, from the middle of the old ones. */
const middle = (rows: number): number => Math.max(1, Math.floor(rows / PER_RENEWAL / 200)) * 100;

/** A database with old ledger entries, and what its rounds cost so far. */
type Books = {
  readonly rows: number;
  readonly db: Database;
  /** One connection for queries, so the meter shows the cost of one query. */
  readonly asking: Database;
  readonly asked: readonly Question[];
  /** The number of the next event or renewal. */
  next: number;
  /** The results by action, one for each round. */
  readonly seen: Map<string, Seen[]>;
};
/** The cost of one renewal, batch or query. */
type Seen = Spent & { readonly ms: number };

const RENEWAL = 'one renewal, from the stored webhooks to the confirmed mark';
const STORED = `batch of ${BATCH} events stored`;

async function round(books: Books, peerUrl: string): Promise<void> {
  await storeRenewals(books.db, books.next, RENEWALS);
  books.next += RENEWALS;
  await spend(books, RENEWAL, books.db, RENEWALS, async () => {
    const { perSecond } = await drain(books.db, RENEWALS, 64, peerUrl);
    return (1000 / perSecond) * RENEWALS;
  });
  await spend(books, STORED, { pool: books.db.intake }, BATCHES, () => repeat(BATCHES, () => storeBatch(books)));
  await spend(books, NOTHING, books.asking, ASKS, () => Promise.resolve(0));
  for (const { what, ask } of books.asked) await spend(books, what, books.asking, ASKS, () => repeat(ASKS, ask));
}

/** The name of an empty measurement: the meter's own cost, subtracted from the small queries. */
const NOTHING = 'nothing';

async function spend(
  books: Books,
  what: string,
  db: Pick<Database, 'pool'>,
  times: number,
  work: () => Promise<number>,
): Promise<void> {
  const before = await meterOf(db);
  const ms = await work();
  const after = await meterOf(db);
  const own = times === ASKS ? books.seen.get(NOTHING)?.at(-1) : undefined;
  const of = (field: keyof Spent): number => (after[field] - before[field]) / times - (own?.[field] ?? 0);
  const list = books.seen.get(what) ?? [];
  list.push({ cpuMs: of('cpuMs'), walBytes: of('walBytes'), pages: of('pages'), ms: ms / times });
  books.seen.set(what, list);
}

async function repeat(times: number, work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  for (let n = 0; n < times; n++) await work();
  return performance.now() - began;
}

function storeBatch(books: Books): Promise<unknown> {
  const receivedAt = new Date();
  const deliveries = Array.from({ length: BATCH }, (_, i): Delivery => {
    const n = books.next + i;
    const one = { source: 'stripe', type: 'invoice.created', status: 'ignored', reason: 'measured' } as const;
    return { ...one, eventId: `evt_bench${n}`, lane: `in_bench${n}`, body: invoiceCreated(n), receivedAt };
  });
  books.next += BATCH;
  return new PgInbox(books.db, new ServerTime()).store(deliveries);
}

function tell(rig: Rig, books: readonly Books[]): void {
  const whats = [...(books[0]?.seen.keys() ?? [])].filter((what) => what !== NOTHING);
  const show = (title: string, field: keyof Seen, digits: number, of = whats): void => {
    const rows = of.map((what) => {
      const seen = books.map((b) => median((b.seen.get(what) ?? []).map((s) => s[field])));
      const [first = 0, last = 0] = [seen[0], seen.at(-1)];
      return {
        what,
        ...Object.fromEntries(seen.map((n, i) => [`above ${books[i]?.rows}`, n.toFixed(digits)])),
        'last to first': first > 0 ? (last / first).toFixed(2) : '-',
      };
    });
    rig.table(`Growth: ${title}, by old rows in the ledger; medians of ${ROUNDS} rounds`, rows);
  };
  show('processor time of PostgreSQL, ms', 'cpuMs', 3);
  show('pages touched', 'pages', 1);
  show('log written, bytes', 'walBytes', 0, [RENEWAL, STORED]);
  show('ms', 'ms', 2);
  rig.found['growth'] = books.map(({ rows, seen }) => ({ rows, seen: Object.fromEntries(seen) }));
}

/**
 * Prints the cost of storing a batch alone and during a purge of the old events' bodies. The run has three parts:
 * alone, during the purge, alone again.
 */
async function tellPurge(rig: Rig, books: Books): Promise<void> {
  const alone = async (): Promise<number[]> => {
    const times: number[] = [];
    for (let n = 0; n < 400; n++) times.push(await repeat(1, () => storeBatch(books)));
    return times;
  };
  const before = await alone();
  let over = false;
  const began = performance.now();
  const purge = new Erasure(books.db, ERASED_PARTS)
    .purge(new Date(Date.now() - 30 * DAY_MS))
    .finally(() => (over = true));
  const beside: number[] = [];
  while (!over) beside.push(await repeat(1, () => storeBatch(books)));
  const seconds = (performance.now() - began) / 1000;
  const { events } = await purge;
  const after = await alone();
  const row = (what: string, times: readonly number[]): Record<string, string | number> => ({
    what,
    batches: times.length,
    p50: median(times).toFixed(1),
    p99: at(times, 0.99).toFixed(1),
    most: at(times, 1).toFixed(1),
  });
  rig.table(
    `Growth: a batch of ${BATCH} events next to a purge of ${events} bodies, ${seconds.toFixed(0)} s long, in ms`,
    [row('alone', before), row('while purging', beside), row('alone again', after)],
  );
  rig.found['purge'] = { events, seconds, before: before.length, beside: median(beside), alone: median(before) };
}

const at = (times: readonly number[], text: number): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(text * times.length))] ?? 0;
const median = (times: readonly number[]): number => at(times, 0.5);

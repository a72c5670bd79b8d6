// Growth of the inbox: the cost of an event, of the lists and of look-ups above many old rows, and what a purge does to intake.
import { type Delivery } from '../domain/ports/inbox.js';
import { Database } from '../store/database.js';
import { Erasure } from '../store/erasure.js';
import { eventPage } from '../store/event-queries.js';
import { PgInbox } from '../store/inbox-store.js';
import { SystemIds } from '../system/system-ports.js';
import { invoiceCreated } from './events.js';
import { type Rig } from './rig.js';

const BATCH = 40;
const TRIES = 60;
const DAY_MS = 86_400_000;
/** Of the old rows so many are old enough to be purged. */
const PURGED = 200_000;

/** Medians in milliseconds: one batch of 40 events, a list page of 20, and the same by event id and by type. */
type GrowthRow = {
  readonly oldRows: number;
  readonly batchMs: number;
  readonly pageMs: number;
  readonly byIdMs: number;
  readonly byTypeMs: number;
};

/** Prints and keeps both tables. At scale 1 it fills ten million rows, about 8 GB and ten minutes. */
export async function measureInboxGrowth({ fresh, table, found, scale }: Rig): Promise<void> {
  await fresh(async (url) => {
    const db = await Database.open({ url, poolSize: 10, onError: (e) => console.error(e.message) });
    const rows = await inboxGrowth(
      db,
      [0, 1_000_000, 10_000_000].map((n) => Math.round(n * scale)),
    );
    const purge = await besidePurge(db);
    await db.close();
    const ms = (n: number | undefined): string => (n ?? 0).toFixed(1);
    table(
      `Inbox: medians in ms of a batch of ${BATCH} events, of a page of 20, and of one by event id and by type`,
      rows.map((r) => ({
        'old rows': r.oldRows,
        batch: ms(r.batchMs),
        page: ms(r.pageMs),
        'by id': ms(r.byIdMs),
        'by type': ms(r.byTypeMs),
      })),
    );
    table(`Inbox: a batch beside a purge of ${purge.purged} bodies, ms`, [
      { what: 'alone', p50: ms(purge.alone[0]), p99: ms(purge.alone[1]) },
      { what: 'while purging', p50: ms(purge.purging[0]), p99: ms(purge.purging[1]) },
    ]);
    found['inbox'] = { rows, purge };
  });
}

/** Fills the inbox to each size in turn and measures there. `sizes` ascend. */
async function inboxGrowth(db: Database, sizes: readonly number[]): Promise<readonly GrowthRow[]> {
  const rows: GrowthRow[] = [];
  let next = 0;
  const batch = (): Promise<number> => storeOne(db, (next += BATCH));
  for (const oldRows of sizes) {
    await fill(db, oldRows);
    await repeat(TRIES, batch); // warm: plans, caches
    const batchMs = median(await repeat(TRIES * 4, batch));
    const wanted = `evt_old${Math.max(1, Math.floor(oldRows / 2))}`;
    const list = (filter: Parameters<typeof eventPage>[1]) =>
      repeat(TRIES, () => timed(() => eventPage(db.pool, filter, { limit: 20, cursor: null })));
    rows.push({
      oldRows,
      batchMs,
      pageMs: median(await list({})),
      byIdMs: median(await list({ eventId: wanted })),
      byTypeMs: median(await list({ type: 'invoice.paid' })),
    });
  }
  return rows;
}

/** Medians and 99th percentiles in milliseconds of a batch alone, and beside a purge that goes through all old rows. */
async function besidePurge(
  db: Database,
): Promise<{ alone: readonly number[]; purging: readonly number[]; purged: number }> {
  let next = 500_000_000;
  const batch = (): Promise<number> => storeOne(db, (next += BATCH));
  const both = (times: readonly number[]): readonly number[] => [median(times), at(times, 0.99)];
  const alone = both(await repeat(TRIES * 4, batch));
  let over = false;
  const purge = new Erasure(db).purge(new Date(Date.now() - 30 * DAY_MS)).finally(() => (over = true));
  const times: number[] = [];
  while (!over) times.push(await batch());
  return { alone, purging: both(times), purged: (await purge).events };
}

/** Decided events with the least body, written by the database itself. */
async function fill(db: Database, rows: number): Promise<void> {
  const step = 50_000; // each within the time that a statement is given
  const found = await db.pool.query<{ n: string }>(
    `select count(*) as n from inbox_event where event_id like 'evt_old%'`,
  );
  for (let from = Number(found.rows[0]?.n ?? 0); from < rows; from += step) {
    await db.pool.query(
      `insert into inbox_event (source, event_id, type, lane, body, body_sha256, status, received_at, decided_at, next_try_at)
       select 'stripe', 'evt_old' || n, case when n % 10 = 0 then 'invoice.paid' else 'invoice.created' end, 'in_old' || n / 4,
              '\\x7b7d', sha256('x'), 'done', now() - d.age, now() - d.age, now()
         from generate_series($1::int, $2::int) as n
        cross join lateral (select case when n <= ${PURGED} then interval '40 days' else interval '1 day' end as age) d`,
      [from + 1, Math.min(rows, from + step)],
    );
  }
}

function storeOne(db: Database, from: number): Promise<number> {
  const receivedAt = new Date();
  const deliveries = Array.from({ length: BATCH }, (_, i): Delivery => {
    const n = from + i;
    const body = invoiceCreated(n);
    const one = { source: 'stripe', type: 'invoice.created', status: 'ignored', reason: 'measured' } as const;
    return { ...one, eventId: `evt_bench${n}`, lane: `in_bench${n}`, body, receivedAt };
  });
  const inbox = new PgInbox(db, new SystemIds());
  return timed(() => inbox.store(deliveries));
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const began = performance.now();
  await work();
  return performance.now() - began;
}

async function repeat(times: number, work: () => Promise<number>): Promise<number[]> {
  const found: number[] = [];
  for (let n = 0; n < times; n++) found.push(await work());
  return found;
}

const at = (times: readonly number[], q: number): number =>
  [...times].sort((a, b) => a - b)[Math.min(times.length - 1, Math.floor(q * times.length))] ?? 0;
const median = (times: readonly number[]): number => at(times, 0.5);

// Decisions of many lanes share one transaction and one commit: whoever comes while one is under way joins the next.
import type pg from 'pg';
import { type Clock } from '../domain/ports/clock.js';
import {
  type EventVerdict,
  LaneFenced,
  type LaneWork,
  NotUnique,
  StoreUnavailable,
} from '../domain/ports/lane-store.js';
import { type Remembered } from '../domain/ports/signups.js';
import { isTransient, isUnavailable, onConnection, violatedConstraint } from './database.js';
import { type ChangedLane, loadLanes, saveLanes, saveVerdicts } from './lane-rows.js';
import { recallIn, rememberIn } from './signup-store.js';

/** A lease is renewed by every transaction; longer than the longest call, so that a living worker never loses it. */
export const LEASE_MS = 25_000;
const MOST_LANES = 64;
/** Transactions under way at once: while one waits for its commit the next is decided. */
const MOST_UNDER_WAY = 2;
const TRIES = 5;

type Waiting = {
  readonly work: LaneWork<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};
type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export class LaneTransactions {
  private queue: Waiting[] = [];
  private underWay = 0;

  constructor(
    private readonly pool: pg.Pool,
    private readonly clock: Clock,
  ) {}

  /** Resolves after the commit with what `decide` gave; rejects when nothing of this lane was written. */
  submit<T>(work: LaneWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work: work, resolve: resolve as (value: unknown) => void, reject });
      this.next();
    });
  }

  private next(): void {
    while (this.underWay < MOST_UNDER_WAY && this.queue.length > 0) {
      this.underWay++;
      void this.run(this.takeGroup()).finally(() => {
        this.underWay--;
        this.next();
      });
    }
  }

  /** The oldest that fit together: a lane once, and a named request alone, since it may have to take everything back. */
  private takeGroup(): Waiting[] {
    const group: Waiting[] = [];
    const left: Waiting[] = [];
    const lanes = new Set<string>();
    for (const w of this.queue) {
      const alone = w.work.request !== undefined && w.work.request !== null;
      const fits = alone ? group.length === 0 : group.length < MOST_LANES && !lanes.has(w.work.lane) && !lanes.has('');
      if (fits) {
        group.push(w);
        lanes.add(alone ? '' : w.work.lane);
      } else left.push(w);
    }
    this.queue = left;
    return group;
  }

  private async run(group: readonly Waiting[]): Promise<void> {
    try {
      const outcomes = await this.commit(group.map((w) => w.work));
      outcomes.forEach((o, i) => (o.ok ? group[i]?.resolve(o.value) : group[i]?.reject(o.error)));
    } catch (e) {
      if (group.length === 1) return group[0]?.reject(e);
      // One of them made the database refuse all: each on its own, so that only that one fails.
      for (const w of group) await this.run([w]);
    }
  }

  private async commit(works: readonly LaneWork<unknown>[]): Promise<readonly Outcome[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        return await onConnection(this.pool, (db) => this.together(db, works));
      } catch (e) {
        const constraint = violatedConstraint(e);
        if (constraint !== null) throw new NotUnique(constraint, e);
        if (isTransient(e) && attempt < TRIES) continue;
        if (isUnavailable(e)) throw new StoreUnavailable('the database did not answer', { cause: e });
        throw e;
      }
    }
  }

  /**
   * Lock and load in one flight, decide, save and commit in another: one statement each for all lanes. The server runs them in
   * order, so nothing is read before the locks are held; after a failed statement its commit rolls back. A lane that may not
   * be decided is left out, not the others.
   */
  private async together(db: pg.PoolClient, works: readonly LaneWork<unknown>[]): Promise<readonly Outcome[]> {
    const now = this.clock.now();
    const lanes = works.map((w) => w.lane);
    const working = works.filter((w) => w.fence !== null).map((w) => w.lane);
    const [, fences, loaded] = await Promise.all([
      db.query('begin'),
      lock(db, works),
      loadLanes(db, lanes, working, now),
    ]);

    const changed: ChangedLane[] = [];
    const verdicts: EventVerdict[] = [];
    const due: Due[] = [];
    const outcomes: Outcome[] = [];
    for (const w of works) {
      if (w.fence !== null && fences.get(w.lane) !== w.fence) {
        outcomes.push({ ok: false, error: new LaneFenced(`lane ${w.lane} was claimed by another worker`) });
        continue;
      }
      try {
        const { state, events } = loaded(w.lane);
        const decided = w.decide({ state, events, remembered: await recall(db, w) });
        await remember(db, w, decided.made ?? null, now);
        changed.push({ before: state, after: decided.state });
        verdicts.push(...decided.verdicts);
        due.push({ key: w.lane, at: decided.dueAt, leased: w.fence !== null, rest: decided.rest === true });
        outcomes.push({ ok: true, value: decided.value });
      } catch (error) {
        if (works.length === 1) throw error; // what the database said decides how it goes on
        outcomes.push({ ok: false, error });
      }
    }
    await Promise.all([
      ...saveLanes(db, changed),
      saveVerdicts(db, verdicts, now),
      saveDue(db, due, now),
      db.query('commit'),
    ]);
    return outcomes;
  }
}

/** Row locks in one order, so that two transactions never wait for each other. Gives the fence of each lane. */
async function lock(db: pg.PoolClient, works: readonly LaneWork<unknown>[]): Promise<ReadonlyMap<string, bigint>> {
  const unclaimed = works.filter((w) => w.fence === null).map((w) => w.lane);
  const ensured: Promise<unknown>[] = [];
  if (unclaimed.length > 0) {
    const sql =
      'insert into lane (key) select key from unnest($1::text[]) as key order by key on conflict (key) do nothing';
    ensured.push(db.query({ name: 'lane_ensure', text: sql, values: [unclaimed] }));
  }
  const locking = db.query<{ key: string; fence: string }>({
    name: 'lane_lock',
    text: 'select key, fence from lane where key = any($1) order by key for update',
    values: [works.map((w) => w.lane)],
  });
  const [locked] = await Promise.all([locking, ...ensured]);
  return new Map(locked.rows.map((r) => [r.key, BigInt(r.fence)]));
}

async function recall(db: pg.PoolClient, { request }: LaneWork<unknown>): Promise<Remembered> {
  return request ? recallIn(db, request, request.bodySha256) : { known: false };
}

async function remember(
  db: pg.PoolClient,
  { request }: LaneWork<unknown>,
  made: string | null,
  now: Date,
): Promise<void> {
  if (!request || made === null) return;
  const before = await rememberIn(db, request, request.bodySha256, made, now);
  if (before.known) throw new NotUnique('api_request_pkey', null); // nothing is kept: the name stands for something else
}

type Due = { readonly key: string; readonly at: Date | null; readonly leased: boolean; readonly rest: boolean };

async function saveDue(db: pg.PoolClient, due: readonly Due[], now: Date): Promise<void> {
  if (due.length === 0) return;
  await db.query({
    name: 'lane_due',
    // Not a worker's: whatever was added is due at once, and a lease that another holds stays as it is.
    text: `update lane l set due_at = case when d.leased then d.at else least(l.due_at, coalesce(d.at, $2)) end,
                  lease_until = case when not d.leased then l.lease_until when d.rest then null else $3 end
             from jsonb_to_recordset($1::jsonb) as d(key text, at timestamptz, leased boolean, rest boolean) where l.key = d.key`,
    values: [JSON.stringify(due), now, new Date(now.getTime() + LEASE_MS)],
  });
}

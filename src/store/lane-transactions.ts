// Decisions of many lanes share one transaction and one commit: whoever comes while one is under way joins the next.
import type pg from 'pg';
import {
  type EventVerdict,
  LaneFenced,
  type LaneWork,
  NotUnique,
  StoreUnavailable,
  type WaitingEvent,
} from '../domain/ports/lane-store.js';
import { type Remembered } from '../domain/ports/signups.js';
import { isTransient, isUnavailable, oneFlight, onConnection, violatedConstraint } from './database.js';
import { type DatabaseTime, readTime } from './database-time.js';
import { type LaneState } from '../domain/model.js';
import { beginSql } from './kept-plans.js';
import { type ChangedLane, type Due, loadLanes, saveDecided, waitingEvents } from './lane-rows.js';
import { recallIn, rememberIn } from './signup-store.js';

/** A lease is renewed by every transaction; longer than the longest call, so that a living worker never loses it. */
export const LEASE_MS = 25_000;
const MOST_LANES = 64;
/** Transactions under way at once. With one, more lanes share each: that is worth more than deciding while another commits. */
const MOST_UNDER_WAY = 1;
const TRIES = 5;

type Waiting = {
  readonly work: LaneWork<unknown>;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};
/** A lane as this process wrote it last, and the version that its row had from then on. */
type Kept = { readonly version: string; readonly state: LaneState };
type Held = { readonly fence: bigint; readonly version: string };
type Outcome = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };

export class LaneTransactions {
  private queue: Waiting[] = [];
  private underWay = 0;
  /** Lanes that this process works on: read once per claim, unless somebody else wrote in the meantime. */
  private readonly kept = new Map<string, Kept>();

  constructor(
    private readonly pool: pg.Pool,
    private readonly time: DatabaseTime,
  ) {}

  /** Resolves after the commit with what `decide` gave; rejects when nothing of this lane was written. */
  submit<T>(work: LaneWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work: work, resolve: resolve as (value: unknown) => void, reject });
      this.next();
    });
  }

  /** The worker is done with the lane. */
  forget(lane: string): void {
    this.kept.delete(lane);
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
    const { held, now, stateOf, eventsOf } = await this.load(db, works);
    const changed: ChangedLane[] = [];
    const verdicts: EventVerdict[] = [];
    const due: Due[] = [];
    const outcomes: Outcome[] = [];
    for (const w of works) {
      this.kept.delete(w.lane); // it is kept again when this is committed
      if (w.fence !== null && held.get(w.lane)?.fence !== w.fence) {
        outcomes.push({ ok: false, error: new LaneFenced(`lane ${w.lane} was claimed by another worker`) });
        continue;
      }
      try {
        const state = stateOf(w.lane);
        const decided = w.decide({ state, events: eventsOf(w.lane), remembered: await recall(db, w), now });
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
    const leaseUntil = new Date(now.getTime() + LEASE_MS);
    const save = (): Promise<ReadonlyMap<string, string>> =>
      due.length === 0
        ? Promise.resolve(new Map())
        : saveDecided(db, { lanes: changed, verdicts, due }, now, leaseUntil);
    const [versions] = await oneFlight(db, () => [save(), db.query('commit')]);
    for (const [i, { key, leased, rest }] of due.entries()) {
      const [version, state] = [versions.get(key), changed[i]?.after];
      if (!leased || rest || version === undefined || state === undefined) continue;
      // As it would be loaded: what is only ever added to is not read back.
      this.kept.set(key, { version, state: { ...state, attempts: [], entries: [], journal: [] } });
    }
    return outcomes;
  }

  private async load(
    db: pg.PoolClient,
    works: readonly LaneWork<unknown>[],
  ): Promise<{
    held: ReadonlyMap<string, Held>;
    /** When the locks were held. */
    now: Date;
    stateOf: (lane: string) => LaneState;
    eventsOf: (lane: string) => readonly WaitingEvent[];
  }> {
    const leased = works.filter((w) => w.fence !== null).map((w) => w.lane);
    const known = new Set(leased.filter((lane) => this.kept.has(lane)));
    const unknown = works.flatMap((w) => (known.has(w.lane) ? [] : [w.lane]));
    const [, held, now, read, events] = await oneFlight(db, () => [
      db.query(beginSql(db)),
      lock(db, works),
      readTime(db, this.time),
      loadLanes(db, unknown),
      waitingEvents(db, leased, this.time),
    ]);
    const states = new Map<string, LaneState>();
    for (const lane of known) {
      const kept = this.kept.get(lane);
      if (kept !== undefined && kept.version === held.get(lane)?.version) states.set(lane, kept.state);
    }
    // What was written from elsewhere since is read again.
    const again = await loadLanes(
      db,
      [...known].filter((lane) => !states.has(lane)),
    );
    return {
      held,
      now,
      stateOf: (lane) => states.get(lane) ?? (known.has(lane) ? again : read)(lane),
      eventsOf: (lane) => events.get(lane) ?? [],
    };
  }
}

/**
 * Row locks in one order, so that two transactions never wait for each other. Gives what is held of each lane: its fence, and its
 * version, which changes with every write to its row; and each transaction here writes it.
 */
async function lock(db: pg.PoolClient, works: readonly LaneWork<unknown>[]): Promise<ReadonlyMap<string, Held>> {
  const unclaimed = works.filter((w) => w.fence === null).map((w) => w.lane);
  const ensured: Promise<unknown>[] = [];
  if (unclaimed.length > 0) {
    const sql =
      'insert into lane (key) select key from unnest($1::text[]) as key order by key on conflict (key) do nothing';
    ensured.push(db.query({ name: 'lane_ensure', text: sql, values: [unclaimed] }));
  }
  const locking = db.query<{ key: string; fence: string; version: string }>({
    name: 'lane_lock',
    text: 'select key, fence, xmin::text as version from lane where key = any($1) order by key for update',
    values: [works.map((w) => w.lane)],
  });
  const [locked] = await Promise.all([locking, ...ensured]);
  return new Map(locked.rows.map((r) => [r.key, { fence: BigInt(r.fence), version: r.version }]));
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

// Steps of many lanes share one statement and one commit. A step joins the next statement while one is under way.
import type pg from 'pg';
import { isChannelLane } from '../domain/events/channel-lane.js';
import { LaneFenced, type LaneWork, NotUnique } from './lane-store.js';
import { StoreUnavailable } from '../domain/errors.js';
import { type Remembered } from '../domain/request-name.js';
import { type DatabaseTime } from '../store/database-time.js';
import { isTransient, isUnavailable, onConnection, sqlState, violatedConstraint } from '../store/database.js';
import { type TellStep } from './decider.js';
import { type Loaded, loadLanes, type QueuedLane, takenBy } from './lane-reader.js';
import { decideStep, foldedAfter, LOG_KEY, type Step, statementOf } from './lane-step.js';
import { type StepWrite } from './subject.js';
import { recallIn, rememberIn } from '../store/requests.js';

const MOST_LANES = 64;
/** Statements under way at once. With one, more lanes share each, and that is worth more than a decision during a commit. */
const MOST_UNDER_WAY = 1;
/** A group leaves with this part of the lanes at work, so a single lane never waits. */
const GATHERED_PART = 1 / 3;
const TRIES = 5;
const UNKNOWN: Remembered = { known: false };

type Work = LaneWork<unknown>;
type Waiting = {
  readonly work: Work;
  /** By our own stopwatch. */
  readonly sinceMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/** A lane after this process's last read or write. */
type Kept = Loaded & { readonly taken: QueuedLane | null };

export type WriteOptions = {
  /** How the merchant's backend learns of a step; null: it does not. */
  readonly tell: TellStep | null;
  /** The subjects' own writes in the commit of each step. */
  readonly writes: readonly StepWrite[];
  /** How many milliseconds a step may wait for others to share its commit; 0: none. */
  readonly gatherMs: number;
};

export class LaneWriter {
  private queue: Waiting[] = [];
  private underWay = 0;
  private gathering: NodeJS.Timeout | undefined;
  /** The lanes at work here: read once per claim, and again after somebody else's write. */
  private readonly kept = new Map<string, Kept>();
  /** The database's time at the last read, and our stopwatch's then. */
  private asked = { at: new Date(0), ms: 0 };
  private readonly options: WriteOptions;

  constructor(
    private readonly pool: pg.Pool,
    private readonly time: DatabaseTime,
    options: Partial<WriteOptions> = {},
  ) {
    this.options = { tell: null, writes: [], gatherMs: 0, ...options };
  }

  /** Reads claimed lanes, and keeps them until they are given back or forgotten. */
  async keep(claimed: readonly QueuedLane[]): Promise<ReadonlyMap<string, Loaded>> {
    const loaded = await this.load(
      claimed.map((t) => t.lane),
      new Map(claimed.map((t) => [t.lane, t])),
    );
    // Lanes in wait of their invoice have no log: the router moves their events and ends their claims.
    for (const [lane, kept] of loaded) if (!isChannelLane(lane)) this.kept.set(lane, kept);
    return loaded;
  }

  /** Resolves after the commit with the value of `decide`; rejects if nothing of this lane was written. */
  submit<T>(work: LaneWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, sinceMs: performance.now(), resolve: resolve as (value: unknown) => void, reject });
      this.next();
    });
  }

  /** The worker is done with the lane. */
  forget(lane: string): void {
    this.kept.delete(lane);
  }

  private next(): void {
    while (this.underWay < MOST_UNDER_WAY && this.queue.length > 0) {
      const waitMs = this.gatherFor();
      clearTimeout(this.gathering);
      if (waitMs > 0) {
        this.gathering = setTimeout(() => this.next(), waitMs);
        return;
      }
      this.underWay++;
      void this.run(this.takeGroup()).finally(() => {
        this.underWay--;
        this.next();
      });
    }
  }

  /** How long the group still waits for others: not at all once it is large enough, or with a caller of the API in it. */
  private gatherFor(): number {
    const enough = this.queue.length >= this.kept.size * GATHERED_PART || this.queue.some((w) => w.work.fence === null);
    const oldest = this.queue[0];
    if (this.options.gatherMs === 0 || enough || oldest === undefined) return 0;
    return Math.ceil(oldest.sinceMs + this.options.gatherMs - performance.now());
  }

  /** The oldest steps that fit together: a lane once, and a named request alone, since it may roll back. */
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
      const values = await this.commit(group.map((w) => w.work));
      group.forEach((w, i) => w.resolve(values[i]));
    } catch (e) {
      if (group.length === 1) return group[0]?.reject(e);
      // The database refused all because of one: each goes on its own, so only that one fails.
      for (const w of group) await this.run([w]);
    }
  }

  private async commit(works: readonly Work[]): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const [alone] = works;
        const steps = alone?.request ? await this.named(alone) : await this.together(works);
        for (const step of steps) this.note(step);
        return steps.map((s) => s.value);
      } catch (e) {
        for (const w of works) this.kept.delete(w.lane); // read again: nobody knows whether this was written
        // After somebody else's write the lane is decided again, on its new state. A value that is not unique then is another lane's.
        const constraint = works.length === 1 ? violatedConstraint(e) : null;
        const raced = constraint === LOG_KEY || (constraint !== null && attempt === 1);
        if ((raced || e instanceof NameTaken || isTransient(e)) && attempt < TRIES) continue;
        throw works.length === 1 ? told(e, works[0]?.lane ?? '') : e;
      }
    }
  }

  private async together(works: readonly Work[]): Promise<readonly Step[]> {
    const known = await this.known(works);
    const now = this.now();
    const steps = works.map((w) => decideStep(w, known(w.lane), now, UNKNOWN, this.options.tell));
    const statement = statementOf(steps, now, this.options.writes);
    if (statement !== null) await this.pool.query(statement);
    return steps;
  }

  /** A request with a name: one transaction looks its object up, and stores the new one with the lane. */
  private named(work: Work): Promise<readonly Step[]> {
    const { request } = work;
    return onConnection(this.pool, async (db) => {
      await db.query('begin');
      const remembered = request ? await recallIn(db, request, request.bodySha256) : UNKNOWN;
      const { now, lanes } = await loadLanes(db, [work.lane], this.time, new Set());
      const loaded = lanes.get(work.lane);
      if (loaded === undefined) throw new Error(`lane ${work.lane} was not read`);
      const step = decideStep(work, { ...loaded, taken: null }, now, remembered, this.options.tell);
      const statement = statementOf([step], now, this.options.writes);
      if (statement !== null) await db.query(statement);
      if (request && step.made !== null) {
        const before = await rememberIn(db, request, request.bodySha256, step.made, now);
        if (before.known) throw new NameTaken(`${request.path} ${request.idempotencyKey}`);
      }
      await db.query('commit');
      return [step];
    });
  }

  private async known(works: readonly Work[]): Promise<(lane: string) => Kept> {
    const out = new Map<string, Kept>();
    const unknown: Work[] = [];
    for (const w of works) {
      const kept = w.fence === null ? undefined : this.kept.get(w.lane);
      if (kept !== undefined && kept.taken?.fence === w.fence) out.set(w.lane, kept);
      else unknown.push(w);
    }
    if (unknown.length > 0) {
      // The count of news is read before the events: an event in between then shows at the end of the claim.
      const claimed = unknown.filter((w) => w.fence !== null).map((w) => w.lane);
      const taken = claimed.length === 0 ? new Map<string, QueuedLane>() : await takenBy(this.pool, claimed);
      for (const [lane, kept] of await this.load(
        unknown.map((w) => w.lane),
        taken,
      ))
        out.set(lane, kept);
    }
    return (lane) => {
      const found = out.get(lane);
      if (found === undefined) throw new Error(`lane ${lane} was not read`);
      return found;
    };
  }

  private async load(
    lanes: readonly string[],
    taken: ReadonlyMap<string, QueuedLane>,
  ): Promise<ReadonlyMap<string, Kept>> {
    const loaded = await loadLanes(this.pool, lanes, this.time, new Set(taken.keys()));
    this.asked = { at: loaded.now, ms: performance.now() };
    return new Map([...loaded.lanes].map(([lane, l]) => [lane, { ...l, taken: taken.get(lane) ?? null }]));
  }

  /**
   * The database's time. Each read of lanes brings it, and a stopwatch adds the time since: the process's own clock decides nothing.
   */
  private now(): Date {
    return this.time.given() ?? new Date(this.asked.at.getTime() + Math.floor(performance.now() - this.asked.ms));
  }

  /** Keeps the lane after its step. A change from elsewhere comes with the worker's next read. */
  private note(step: Step): void {
    const { lane, fence } = step.work;
    if (fence === null || step.rest || step.known.taken?.fence !== fence) this.kept.delete(lane);
    else {
      const undecided = step.known.events.filter((e) => !step.verdicts.some((v) => v.id === e.id));
      this.kept.set(lane, { ...step.known, folded: foldedAfter(step), events: undecided });
    }
  }
}

/** Somebody else wrote the same request after the look-up of its name: this one rolls back and finds the other's object. */
class NameTaken extends Error {}

/** The caller's error for a failed step of its lane. */
function told(e: unknown, lane: string): unknown {
  const constraint = violatedConstraint(e);
  if (constraint !== null) return new NotUnique(constraint, e);
  // Null version: another worker holds the lane, or the earlier row is gone.
  if (sqlState(e) === '23502' && e instanceof Error && 'table' in e && e.table === 'lane_log') {
    return new LaneFenced(`lane ${lane} was claimed by another worker, or lost its last step in a failover`);
  }
  return isUnavailable(e) ? new StoreUnavailable('the database did not answer', { cause: e }) : e;
}

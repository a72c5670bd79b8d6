// Commits the steps of a group of lanes in one statement, and keeps each lane at work in memory, so that its next step reads
// nothing.
import type pg from 'pg';
import { isChannelLane } from '../shared/domain/events/channel-lane.js';
import { LaneFenced, type LaneWork, NotUnique } from './lane.repository.js';
import { StoreUnavailable } from '../shared/domain/errors.js';
import { type Remembered } from '../shared/domain/request-name.js';
import { type DatabaseTime } from '../frames/store/database-time.js';
import { isTransient, isUnavailable, onConnection, sqlState, violatedConstraint } from '../frames/store/database.js';
import { type TellStep } from './decider.js';
import { type Loaded, loadLanes, type QueuedLane, takenBy } from './lane-reader.js';
import { decideStep, foldedAfter, type Step } from './lane-step.js';
import { LOG_KEY, statementOf } from './step-statement.js';
import { type ParsedEvents } from './parsed-events.js';
import { type StepWrite } from './subject.js';
import { recallIn, rememberIn } from '../frames/store/requests.js';

const TRIES = 5;
const UNKNOWN: Remembered = { known: false };

export type Work = LaneWork<unknown>;

/** A lane as this process last read or wrote it. */
type Kept = Loaded & { readonly taken: QueuedLane | null };

export type WriteOptions = {
  /** Makes the notifications of a step for the merchant's backend. Null: there are none. */
  readonly tell: TellStep | null;
  /** The writes to subjects' own tables, in the same commit as each step. */
  readonly writes: readonly StepWrite[];
  /** How many milliseconds a step may wait for other steps to share its commit. 0: no step waits. */
  readonly gatherMs: number;
  /** The events that this process's webhook endpoints have parsed. */
  readonly parsed: ParsedEvents;
};

export class StepCommit {
  /**
   * The lanes at work in this process. The process reads a lane at its claim, and again after another writer's write.
   */
  readonly kept = new Map<string, Kept>();
  /** The database's time at the last read, and the monotonic clock's time at the same moment. */
  private asked = { at: new Date(0), ms: 0 };

  constructor(
    private readonly pool: pg.Pool,
    private readonly time: DatabaseTime,
    private readonly options: Omit<WriteOptions, 'gatherMs'>,
  ) {}

  /** Reads claimed lanes, and keeps each lane until `forget` or the end of its claim. */
  async keep(claimed: readonly QueuedLane[]): Promise<ReadonlyMap<string, Loaded>> {
    const loaded = await this.load(
      claimed.map((t) => t.lane),
      new Map(claimed.map((t) => [t.lane, t])),
    );
    // A lane of events without an invoice has no log: the router moves its events and ends the claim.
    for (const [lane, kept] of loaded) if (!isChannelLane(lane)) this.kept.set(lane, kept);
    return loaded;
  }

  /** Drops the lane: the worker has ended its claim. */
  forget(lane: string): void {
    this.kept.delete(lane);
  }

  /** Commits the steps together, and returns the values of their decisions. Nothing is written if this throws. */
  async commit(works: readonly Work[]): Promise<readonly unknown[]> {
    for (let attempt = 1; ; attempt++) {
      try {
        const [alone] = works;
        const steps = alone?.request ? await this.named(alone) : await this.together(works);
        for (const step of steps) this.note(step);
        return steps.map((s) => s.value);
      } catch (e) {
        for (const w of works) this.kept.delete(w.lane); // nobody knows whether the database wrote this, so the next try reads again
        // If another writer wrote first, the step decides again on the new state. If the database then refuses a value
        // again as not unique, another lane has this value.
        const constraint = works.length === 1 ? violatedConstraint(e) : null;
        const raced = constraint === LOG_KEY || (constraint !== null && attempt === 1);
        if ((raced || e instanceof NameTaken || isTransient(e)) && attempt < TRIES) continue;
        throw works.length === 1 ? explained(e, works[0]?.lane ?? '') : e;
      }
    }
  }

  private async together(works: readonly Work[]): Promise<readonly Step[]> {
    const known = await this.known(works);
    const now = this.now();
    const steps = works.map((w) =>
      decideStep(w, known(w.lane), { at: now, remembered: UNKNOWN, tell: this.options.tell }),
    );
    const statement = statementOf(steps, now, this.options.writes);
    if (statement !== null) await this.pool.query(statement);
    return steps;
  }

  /**
   * Commits the step of a request with an Idempotency-Key. One transaction finds the object of an earlier request with
   * this key, or stores a new object with the lane.
   */
  private named(work: Work): Promise<readonly Step[]> {
    const { request } = work;
    return onConnection(this.pool, async (db) => {
      await db.query('begin');
      const remembered = request ? await recallIn(db, request, request.bodySha256) : UNKNOWN;
      const { now, lanes } = await loadLanes(db, [work.lane], {
        time: this.time,
        withEvents: new Set(),
        parsed: this.options.parsed,
      });
      const loaded = lanes.get(work.lane);
      if (loaded === undefined) throw new Error(`lane ${work.lane} was not read`);
      const step = decideStep(work, { ...loaded, taken: null }, { at: now, remembered, tell: this.options.tell });
      const statement = statementOf([step], now, this.options.writes);
      if (statement !== null) await db.query(statement);
      if (request && step.made !== null) {
        const before = await rememberIn(db, request, { bodySha256: request.bodySha256, objectId: step.made, at: now });
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
      // First read each lane's counter of arrivals, then its events. If an event arrives between these reads, the
      // lane's counter rises above the number read, so the end of the claim notices the event.
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
    const loaded = await loadLanes(this.pool, lanes, {
      time: this.time,
      withEvents: new Set(taken.keys()),
      parsed: this.options.parsed,
    });
    this.asked = { at: loaded.now, ms: performance.now() };
    return new Map([...loaded.lanes].map(([lane, l]) => [lane, { ...l, taken: taken.get(lane) ?? null }]));
  }

  /**
   * The database's time: its time at the last read of lanes, plus the time passed since by the monotonic clock. The
   * clock of this machine decides nothing.
   */
  private now(): Date {
    return this.time.given() ?? new Date(this.asked.at.getTime() + Math.floor(performance.now() - this.asked.ms));
  }

  /** Keeps the lane as this step leaves it. Another writer's change arrives with the next read. */
  private note(step: Step): void {
    const { lane, fence } = step.work;
    if (fence === null || step.isIdle || step.known.taken?.fence !== fence) this.kept.delete(lane);
    else {
      const undecided = step.known.events.filter((e) => !step.outcomes.some((v) => v.id === e.id));
      this.kept.set(lane, { ...step.known, folded: foldedAfter(step), events: undecided });
    }
  }
}

/**
 * Another process stored the same request after this process looked up its Idempotency-Key. This process rolls back,
 * looks up the key again, and finds the stored object.
 */
class NameTaken extends Error {}

/** Turns the database's error of a failed step into the error for the lane's worker or request. */
function explained(error: unknown, lane: string): unknown {
  const constraint = violatedConstraint(error);
  if (constraint !== null) return new NotUnique(constraint, error);
  // The version is null (see `LOG_SQL`): another worker has claimed the lane, or the log lacks the previous row.
  if (sqlState(error) === '23502' && error instanceof Error && 'table' in error && error.table === 'lane_log') {
    return new LaneFenced(`lane ${lane} was claimed by another worker, or lost its last step in a failover`);
  }
  return isUnavailable(error) ? new StoreUnavailable('the database did not answer', { cause: error }) : error;
}

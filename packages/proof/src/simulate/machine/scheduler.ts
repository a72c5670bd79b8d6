// Lets one actor run at a time. Every call through a port is a step and waits here for its turn. The simulated time
// moves only when no actor can run.
import { createHash } from 'node:crypto';
import { types } from 'node:util';
import { LaneFenced } from '#src/engine/lane.repository.js';
import { type FaultKind, type FaultSource, lacking, noFaults, processFaults, type YieldPoint } from './faults.js';
import { type Seeded } from './seeded.js';

/** The owner of a step: one life of a replica, or the world around it. A dead owner never runs again. */
export type Owner = { readonly name: string; readonly mortal: boolean; alive: boolean; pausedUntil: number };

type Settled = { readonly ok: true; readonly value: unknown } | { readonly ok: false; readonly error: unknown };
type Item = {
  readonly owner: Owner;
  readonly label: string;
  readonly legal: readonly FaultKind[];
  /** True: the step may change which work is due in the database. */
  readonly stores: boolean;
  readonly run: (fault: FaultKind | null) => Promise<unknown>;
  readonly deliver: (settled: Settled) => void;
};
type Sleeper = { readonly owner: Owner; readonly at: number; readonly signal: () => void; readonly poll: boolean };
type Plan = { readonly at: number; readonly label: string; readonly run: () => void | Promise<void> };

/** The limit of real milliseconds for a step. A slower step counts as a deadlock in the code under test. */
const HANG_MS = 30_000;
const MOST_STEPS = 30_000;
/** A pause longer than any lease, so another worker can take over the lane. */
const PAUSE_MS = 40_000;
const POLL_MS = 1_000;

export type SchedulerOptions = {
  readonly startMs: number;
  /** Draws the next actor. Null: the first ready actor runs. */
  readonly rng: Seeded | null;
  readonly keepTrace: boolean;
  /** False: the run is too long to keep every step in memory, so the scheduler only counts the steps. */
  readonly keepPoints: boolean;
  /** The time when the database has the next due lane or event. Null: nothing is due. */
  readonly storeDue: () => Promise<number | null>;
  readonly peers: { nextDue(): number | null; runDue(): Promise<void> };
  readonly onCrash: (owner: Owner) => void;
  /** The next `steps` database steps, this one included, will be lost: a standby takes over without them. */
  readonly onFailover: (steps: number) => Promise<void>;
};

export class Scheduler {
  now: number;
  /** Null: the faults are over for good. No step can fail any more, so `points` gets no more entries. */
  faults: FaultSource | null = noFaults;
  readonly points: YieldPoint[] = [];
  readonly injected: { readonly at: number; readonly label: string; readonly fault: FaultKind }[] = [];
  readonly lines: string[] = [];
  /** Rules broken during the run. */
  readonly broken: string[] = [];
  /** True while a transaction or statement of the code under test is at the database. */
  inDatabase = false;
  /** Number of writes refused because another worker had taken over the lane. */
  fenced = 0;
  /** Number of steps that may have written to the database. */
  stored = 0;
  /** Called between two steps, while no statement runs, so a story can replace the data of the database. */
  between: (() => Promise<void>) | null = null;
  private ready: Item[] = [];
  private sleepers: Sleeper[] = [];
  private plans: Plan[] = [];
  private steps = 0;
  private pointCount = 0;
  private lastPoll = 0;
  private storeChanged = true;
  private storeDueAt: number | null = null;
  private readonly hash = createHash('sha256');

  constructor(private readonly options: SchedulerOptions) {
    this.now = options.startMs;
  }

  get released(): number {
    return this.steps;
  }

  /** Adds one line to the trace of the run. The digest covers every line. */
  tell(text: string): void {
    const line = `${((this.now - this.options.startMs) / 1000).toFixed(3)} ${text}`;
    this.hash.update(line).update('\n');
    if (this.options.keepTrace) this.lines.push(line);
  }

  digest(): string {
    return this.hash.copy().digest('hex').slice(0, 16);
  }

  /**
   * Waits for the step's turn, then calls `run` with the fault of this step. The scheduler simulates crashes and pauses
   * itself; `run` must simulate every other fault.
   */
  step<T>(
    owner: Owner,
    label: string,
    legal: readonly FaultKind[],
    run: (fault: FaultKind | null) => Promise<T>,
  ): Promise<T> {
    if (!owner.alive) return new Promise<T>(() => undefined);
    return new Promise<T>((resolve, reject) => {
      const all = owner.mortal ? [...legal, ...processFaults] : legal;
      const deliver = (settled: Settled): void => (settled.ok ? resolve(settled.value as T) : reject(asError(settled)));
      const stores = legal.includes('db_refused');
      this.ready.push({ owner, label, legal: all, stores, run, deliver });
    });
  }

  sleep(owner: Owner, ms: number, signal: AbortSignal | undefined, poll: boolean): Promise<void> {
    if (!owner.alive) return new Promise(() => undefined);
    if (signal?.aborted === true) return Promise.resolve();
    return new Promise((resolve) => {
      const interrupt = (): void => {
        this.sleepers = this.sleepers.filter((s) => s !== sleeper);
        resolve();
      };
      const signalLanes = (): void => {
        signal?.removeEventListener('abort', interrupt); // one signal may outlive thousands of sleeps
        resolve();
      };
      const sleeper: Sleeper = { owner, at: this.now + Math.max(0, ms), signal: signalLanes, poll };
      this.sleepers.push(sleeper);
      signal?.addEventListener('abort', interrupt, { once: true });
    });
  }

  /** Adds the faults of the story to the faults of the run. */
  alsoFails(story: FaultSource): void {
    const { faults } = this;
    if (faults !== null) this.faults = (point) => faults(point) ?? story(point);
  }

  /** Plans an act of the world at this time, in milliseconds since 1970. */
  plan(at: number, label: string, run: () => void | Promise<void>): void {
    const after = this.plans.findIndex((p) => p.at > at);
    this.plans.splice(after < 0 ? this.plans.length : after, 0, { at, label, run });
  }

  /** Makes the scheduler ask the database again which work is due. */
  storeIsOther(): void {
    this.storeChanged = true;
  }

  /** Ends an owner: its waiting steps and sleeps never go on. */
  kill(owner: Owner): void {
    if (!owner.alive) return;
    owner.alive = false;
    this.ready = this.ready.filter((i) => i.owner !== owner);
    this.sleepers = this.sleepers.filter((s) => s.owner !== owner);
    this.tell(`${owner.name} crashes`);
    this.options.onCrash(owner);
  }

  /** Runs until nothing can happen before `limit`, then sets the time to `limit`. */
  async runUntil(limit: number): Promise<void> {
    for (;;) {
      await quiet();
      if (this.between !== null) await this.between();
      if (this.broken.length > 20) return;
      const able = this.ready.filter((i) => i.owner.pausedUntil <= this.now);
      if (able.length > 0) {
        if (++this.steps > MOST_STEPS && this.options.keepPoints) {
          this.broken.push(`no rest after ${MOST_STEPS} steps: the run goes round in circles`);
          return;
        }
        await this.release(able);
      } else if (!(await this.advance(limit))) return;
    }
  }

  private async release(able: readonly Item[]): Promise<void> {
    const { rng } = this.options;
    const item = rng === null ? able[0] : rng.pick(able);
    if (item === undefined) return;
    const group = this.together(item, able);
    this.ready = this.ready.filter((i) => !group.includes(i));
    const at = this.pointCount;
    const point = { at, label: `${item.owner.mortal ? '' : 'world '}${item.label}`, legal: item.legal };
    if (item.legal.length > 0) this.pointCount++;
    const source = item.legal.length > 0 ? this.faults : null;
    if (source !== null && this.options.keepPoints) this.points.push(point);
    const fault = source?.(point) ?? null;
    if (fault !== null) this.injected.push({ at, label: item.label, fault });
    const name = `#${at} ${item.owner.name} ${item.label}${group.length > 1 ? ` and ${group.length - 1} more` : ''}`;
    if (fault === 'crash_before') {
      this.tell(`${name} [${fault}]`);
      return this.kill(item.owner);
    }
    if (fault === 'pause_before') {
      this.tell(`${name} [${fault}]`);
      item.owner.pausedUntil = this.now + PAUSE_MS;
      this.ready.push({ ...item, legal: [] }, ...group.slice(1));
      return;
    }
    const lacks = lacking(fault);
    if (lacks !== null) await this.options.onFailover(lacks);
    if (item.stores) {
      this.stored++;
      this.storeIsOther();
    }
    const settled = await Promise.all(group.map((i) => settle(i.run(i === item ? fault : null), i.label)));
    const [first] = settled;
    this.fenced += settled.filter((s) => !s.ok && s.error instanceof LaneFenced).length;
    this.tell(`${name}${fault === null ? '' : ` [${fault}]`} ${first === undefined ? '' : show(first)}`);
    if (fault === 'crash_after') return this.kill(item.owner);
    if (fault === 'pause_after') item.owner.pausedUntil = this.now + PAUSE_MS;
    group.forEach((i, n) => {
      const result = settled[n];
      if (result === undefined) return;
      if (fault !== 'pause_after') return i.deliver(result);
      const run = (): Promise<unknown> => (result.ok ? Promise.resolve(result.value) : Promise.reject(asError(result)));
      this.ready.push({ ...i, label: `${i.label} is answered`, legal: [], run });
    });
  }

  /** Sometimes runs several waiting transactions of one replica at once, so the daemon can commit them together. */
  private together(item: Item, able: readonly Item[]): readonly Item[] {
    const { rng } = this.options;
    if (rng === null || item.label !== 'lanes.transact') return [item];
    const others = able.filter((i) => i !== item && i.owner === item.owner && i.label === item.label);
    return others.length > 0 && rng.chance(0.4) ? [item, ...others] : [item];
  }

  private async advance(limit: number): Promise<boolean> {
    const alive = (owner: Owner): boolean => owner.alive && owner.pausedUntil <= this.now;
    const pollAt = await this.nextPoll(alive);
    const at = Math.min(
      ...this.sleepers.filter((s) => !s.poll).map((s) => Math.max(s.at, s.owner.pausedUntil)),
      ...this.sleepers.filter((s) => s.poll && !alive(s.owner)).map((s) => s.owner.pausedUntil),
      ...this.ready.map((i) => i.owner.pausedUntil),
      this.options.peers.nextDue() ?? Infinity,
      this.plans[0]?.at ?? Infinity,
      pollAt,
    );
    if (at > limit) {
      this.now = Math.max(this.now, limit);
      return false;
    }
    this.now = Math.max(this.now, at);
    for (let p = this.plans[0]; p !== undefined && p.at <= this.now; p = this.plans[0]) {
      this.plans.shift();
      this.tell(p.label);
      await p.run();
    }
    if ((this.options.peers.nextDue() ?? Infinity) <= this.now) await this.options.peers.runDue();
    if (pollAt <= this.now) {
      this.lastPoll = this.now;
      this.signalAll((s) => s.poll && alive(s.owner));
    }
    this.signalAll((s) => !s.poll && s.at <= this.now && alive(s.owner));
    return true;
  }

  /**
   * Returns the time of the next useful poll: when work is due in the database, a second after the last poll at the
   * earliest. Infinity: no poll is useful.
   */
  private async nextPoll(alive: (owner: Owner) => boolean): Promise<number> {
    if (!this.sleepers.some((s) => s.poll && alive(s.owner))) return Infinity;
    if (this.storeChanged) this.storeDueAt = await this.options.storeDue();
    this.storeChanged = false;
    return this.storeDueAt === null ? Infinity : Math.max(this.storeDueAt, this.lastPoll + POLL_MS);
  }

  private signalAll(which: (sleeper: Sleeper) => boolean): void {
    const due = this.sleepers.filter(which);
    this.sleepers = this.sleepers.filter((s) => !due.includes(s));
    for (const s of due) {
      const run = (): Promise<unknown> => Promise.resolve();
      this.ready.push({
        owner: s.owner,
        label: s.poll ? 'looks' : 'wakes',
        legal: [],
        stores: false,
        run,
        deliver: () => s.signal(),
      });
    }
  }
}

/** Waits until no code can go on without a further step. */
async function quiet(): Promise<void> {
  for (let i = 0; i < 4; i++) await new Promise((resolve) => setImmediate(resolve));
}

async function settle(work: Promise<unknown>, label: string): Promise<Settled> {
  let timer: NodeJS.Timeout | undefined;
  const hang = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`hangs: ${label} does not end`)), HANG_MS);
  });
  try {
    return { ok: true, value: await Promise.race([work, hang]) };
  } catch (error) {
    return { ok: false, error };
  } finally {
    clearTimeout(timer);
  }
}

function asError(settled: Extract<Settled, { ok: false }>): Error {
  return types.isNativeError(settled.error) ? settled.error : new Error('failed'); // the error may come from another realm
}

function show(settled: Settled): string {
  if (!settled.ok) return `failed: ${asError(settled).name} ${asError(settled).message}`;
  return typeof settled.value === 'number' || typeof settled.value === 'string' ? String(settled.value) : 'ok';
}

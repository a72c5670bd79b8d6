// Gathers the steps of lanes, so that steps of many lanes share one statement and one commit. While a statement runs, new
// steps gather for the next statement.
import type pg from 'pg';
import { type LaneWork } from './lane.repository.js';
import { type DatabaseTime } from '../frames/store/database-time.js';
import { caller } from '../frames/store/database.js';
import { StepCommit, type Work, type WriteOptions } from './step-commit.js';

const MOST_LANES = 64;
/**
 * How many statements run at the same time. With only one, more lanes share the next statement. This saves more time
 * than a second statement would.
 */
const MOST_UNDER_WAY = 1;
/** The next statement starts when this part of the lanes at work has a waiting step. So a single lane never waits. */
const GATHERED_PART = 1 / 3;

type Waiting = {
  readonly work: Work;
  /** The start of the wait, by this process's monotonic clock. */
  readonly sinceMs: number;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: unknown) => void;
};

export class LaneWriter {
  private queue: Waiting[] = [];
  private underWay = 0;
  private gathering: NodeJS.Timeout | undefined;
  private readonly gatherMs: number;
  /** Keeps the lanes at work. */
  readonly steps: StepCommit;

  constructor(pool: pg.Pool, time: DatabaseTime, options: Partial<WriteOptions> & Pick<WriteOptions, 'parsed'>) {
    this.gatherMs = options.gatherMs ?? 0;
    this.steps = new StepCommit(pool, time, { tell: null, writes: [], ...options });
  }

  /** Resolves after the commit with the value of `decide`. Rejects if the commit failed for this lane. */
  submit<T>(work: LaneWork<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.queue.push({ work, sinceMs: performance.now(), resolve: resolve as (value: unknown) => void, reject });
      this.next();
    });
  }

  private next(): void {
    while (this.underWay < MOST_UNDER_WAY && this.queue.length > 0) {
      const waitMs = waitFor(this.queue, this.steps.kept.size, this.gatherMs);
      clearTimeout(this.gathering);
      if (waitMs > 0) {
        this.gathering = setTimeout(() => this.next(), waitMs);
        return;
      }
      this.underWay++;
      const { group, left } = nextGroup(this.queue);
      this.queue = left;
      // A group has steps of many callers, so no caller's share of connections holds it up.
      void caller
        .run('work', () => this.run(group))
        .finally(() => {
          this.underWay--;
          this.next();
        });
    }
  }

  private async run(group: readonly Waiting[]): Promise<void> {
    try {
      const values = await this.steps.commit(group.map((w) => w.work));
      group.forEach((w, i) => w.resolve(values[i]));
    } catch (e) {
      if (group.length === 1) return group[0]?.reject(e);
      // One of the steps made the database refuse the whole statement. Now each step goes alone, so only the bad step
      // fails.
      for (const w of group) await this.run([w]);
    }
  }
}

/**
 * How many milliseconds the waiting steps still wait for more steps. 0: enough steps wait, or an API request waits for
 * one of these steps.
 */
function waitFor(queue: readonly Waiting[], lanesAtWork: number, gatherMs: number): number {
  const enough = queue.length >= lanesAtWork * GATHERED_PART || queue.some((w) => w.work.fence === null);
  const [oldest] = queue;
  return gatherMs === 0 || enough || oldest === undefined
    ? 0
    : Math.ceil(oldest.sinceMs + gatherMs - performance.now());
}

/** One step per lane, oldest first. A request with an Idempotency-Key goes alone: its transaction can roll back. */
function nextGroup(queue: readonly Waiting[]): { readonly group: readonly Waiting[]; readonly left: Waiting[] } {
  const group: Waiting[] = [];
  const left: Waiting[] = [];
  const lanes = new Set<string>();
  for (const w of queue) {
    const alone = w.work.request !== undefined && w.work.request !== null;
    const fits = alone ? group.length === 0 : group.length < MOST_LANES && !lanes.has(w.work.lane) && !lanes.has('');
    if (fits) {
      group.push(w);
      lanes.add(alone ? '' : w.work.lane);
    } else left.push(w);
  }
  return { group, left };
}

// Random numbers and ids from a seed: the same seed gives the same run.
import { createHash } from 'node:crypto';
import { Ids, Rng } from '#src/shared/domain/ports/clock.js';

export class Seeded extends Rng {
  #state: number;

  constructor(private readonly seed: string) {
    super();
    this.#state = createHash('sha256').update(seed).digest().readUInt32LE(0);
  }

  /** Returns separate random numbers for one part of a run, so a change in this part does not alter other parts. */
  fork(name: string): Seeded {
    return new Seeded(`${this.seed}/${name}`);
  }

  override next(): number {
    // mulberry32: 32 bits of state are enough for one run
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let t = this.#state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** Returns an integer from `from` to `to`, both included. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  chance(probability: number): boolean {
    return this.next() < probability;
  }

  /** Throws on an empty list. */
  pick<T>(list: readonly T[]): T {
    if (list.length === 0) throw new Error('nothing to pick from');
    return list[Math.floor(this.next() * list.length)] as T; // below the length, so the item exists
  }
}

/**
 * Makes ids such as `rev_000001` and `pmt_000002`. All replicas of a run share one count, so a restart repeats no id.
 */
export class CountingIds extends Ids {
  #last = 0;

  override next(prefix: string): string {
    return `${prefix}_${String(++this.#last).padStart(6, '0')}`;
  }
}

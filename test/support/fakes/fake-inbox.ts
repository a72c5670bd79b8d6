// An inbox in memory and a clock that stands still until moved, for the tests of the webhook endpoints.
import { Inbox, type Delivery, type StoreOutcome } from '../../../src/shared/domain/ports/inbox.js';
import { ManualClock } from './clock.js';

/** Commits at once, unless a test makes it hold or fail. */
export class FakeInbox extends Inbox {
  readonly rows = new Map<string, Delivery>();
  readonly quarantined: { delivery: Delivery; reason: string }[] = [];
  readonly batches: (readonly Delivery[])[] = [];
  failure: Error | null = null;
  #held: { go: () => void; fail: (error: Error) => void }[] | null = null;

  /** From now on each commit waits for `commitNext` or `failNext`. */
  hold(): void {
    this.#held = [];
  }

  get heldCount(): number {
    return this.#held?.length ?? 0;
  }

  commitNext(): void {
    this.#held?.shift()?.go();
  }

  failNext(error = new Error('the connection was cut')): void {
    this.#held?.shift()?.fail(error);
  }

  override async store(batch: readonly Delivery[]): Promise<readonly StoreOutcome[]> {
    this.batches.push(batch);
    const held = this.#held;
    if (held !== null) await new Promise<void>((go, fail) => held.push({ go, fail }));
    if (this.failure !== null) throw this.failure;
    return batch.map((delivery) => this.#keep(delivery));
  }

  override async quarantine(delivery: Delivery, reason: string): Promise<void> {
    if (this.failure !== null) throw this.failure;
    this.quarantined.push({ delivery, reason });
  }

  #keep(delivery: Delivery): StoreOutcome {
    const key = `${delivery.source} ${delivery.eventId}`;
    const before = this.rows.get(key);
    if (before === undefined) this.rows.set(key, delivery);
    return before === undefined ? 'stored' : before.body.equals(delivery.body) ? 'duplicate' : 'conflict';
  }
}

/** A `ManualClock` whose `pass` also lets woken sleepers continue. */
export class StillClock extends ManualClock {
  get seconds(): number {
    return Math.floor(this.now().getTime() / 1_000);
  }

  /** Moves the clock in small steps, so sleepers that sleep again wake each time. */
  async pass(ms: number, stepMs = 1_000): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.advance(Math.min(stepMs, left));
      await turn();
    }
  }
}

/** Waits for one turn of the event loop. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

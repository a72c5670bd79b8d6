// Delivers the stored notifications, separate from all other work: a hanging receiver blocks only its own deliveries.
import { type Clock, type Rng } from '../../shared/domain/ports/clock.js';
import { type DeliveryResult, type Receiver } from '../../shared/domain/ports/receiver.js';
import { type Notifications, type TakenNotification } from '../../frames/store/notifications.js';
import { retryInMs } from './rules/retry.js';
import { NOTIFY_BUSY_MS } from './rules/limits.js';

export type NotifierOptions = {
  /** The most deliveries of this process at the same time. */
  readonly places: number;
  readonly pollMs: number;
  readonly onDelivery?: (result: DeliveryResult, taken: TakenNotification) => void;
  readonly onError: (what: string, error: unknown) => void;
};

/**
 * If the receiver replied 410 (gone), the notification is due again after this pause. But the store hands out no
 * notification until a person requests a delivery (`markGone(false)`).
 */
const KEEP_MS = 1_000;
const BACK_OFF_MS = 1_000;

export class Notifier {
  private readonly stopping = new AbortController();
  private readonly underWay = new Set<Promise<void>>();
  private loop: Promise<void> | null = null;
  private tap: AbortController | null = null;

  constructor(
    private readonly store: Notifications,
    private readonly receiver: Receiver,
    private readonly clock: Clock,
    private readonly rng: Rng,
    private readonly options: NotifierOptions,
  ) {}

  /** Starts the deliveries. Does nothing without a receiver. */
  start(): void {
    if (this.receiver.enabled) this.loop ??= this.run();
  }

  /** Takes no further notification, and waits for the deliveries under way. */
  async stop(): Promise<void> {
    this.stopping.abort();
    this.tap?.abort();
    await this.loop;
    await Promise.allSettled(this.underWay);
  }

  private async run(): Promise<void> {
    const { places, pollMs } = this.options;
    while (!this.stopping.signal.aborted) {
      const free = places - this.underWay.size;
      const taken = free > 0 ? await this.take(free) : [];
      for (const one of taken) {
        const work = this.deliver(one).finally(() => {
          this.underWay.delete(work);
          this.tap?.abort(); // a place is free: take the next notification at once
        });
        this.underWay.add(work);
      }
      if (this.stopping.signal.aborted) break;
      this.tap = new AbortController();
      await this.clock.sleep(pollMs, this.tap.signal);
      this.tap = null;
    }
  }

  private async take(limit: number): Promise<readonly TakenNotification[]> {
    try {
      return await this.store.take(limit, NOTIFY_BUSY_MS);
    } catch (e) {
      this.options.onError("couldn't take notifications from the database", e);
      await this.clock.sleep(BACK_OFF_MS, this.stopping.signal);
      return [];
    }
  }

  private async deliver(taken: TakenNotification): Promise<void> {
    try {
      const result = await this.receiver.send(taken, await this.store.time());
      const next = retryInMs(taken.attempts, result.retryAfterMs, this.rng.next());
      if (result.outcome === 'gone') await this.store.markGone(true);
      await this.store.settle(taken, result, result.outcome === 'gone' ? KEEP_MS : next);
      this.options.onDelivery?.(result, taken);
    } catch (e) {
      // The notification becomes due again. Two deliveries under one id are better than none.
      this.options.onError("couldn't deliver a notification or store its outcome", e);
    }
  }
}

// Refreshes the gauges of the whole database at a scrape, unless the last refresh is recent.
import { Inject, Injectable } from '@nestjs/common';
import { HealthRepository } from './health.repository.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { Notifications } from '../../frames/store/notifications.js';
import { LOG, type Logger, Metrics } from '../../shared/observe/index.js';

const FRESH_MS = 5_000;
/** The longest wait of a scrape for the database. The scrape shows the process's own numbers in any case. */
const TIMEOUT_MS = 2_000;

@Injectable()
export class Gauges {
  private askedAt: number | null = null;
  private asking: Promise<void> | null = null;
  private readonly more: (() => Promise<void>)[] = [];

  constructor(
    private readonly health: HealthRepository,
    private readonly metrics: Metrics,
    private readonly clock: Clock,
    private readonly notifications: Notifications,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Adds the refresh of a feature's own gauge. */
  add(refresh: () => Promise<void>): void {
    this.more.push(refresh);
  }

  /** Refreshes the gauges. Never rejects: without the database they keep their old values. */
  async refresh(): Promise<void> {
    const now = this.clock.now().getTime();
    if (this.asking === null && this.askedAt !== null && Math.abs(now - this.askedAt) < FRESH_MS) return;
    this.asking ??= this.ask().finally(() => {
      this.asking = null;
    });
    const timeout = new AbortController();
    await Promise.race([this.asking, this.clock.sleep(TIMEOUT_MS, timeout.signal)]);
    timeout.abort();
  }

  private async ask(): Promise<void> {
    try {
      const backlog = await this.health.backlog();
      const now = this.clock.now().getTime();
      const waits = backlog.waitingEvents + backlog.pendingCalls > 0;
      this.metrics.queues(
        { inbox: backlog.waitingEvents, outbox: backlog.pendingCalls },
        waits ? new Date(now - backlog.oldestSeconds * 1000) : null,
      );
      this.metrics.eventsParked(backlog.parkedEvents);
      this.metrics.reviewsOpen(Object.fromEntries(backlog.openReviews), Object.fromEntries(backlog.dueSeconds));
      const { pending, dead, goneAt } = await this.notifications.status();
      this.metrics.notificationsStand(pending, dead, goneAt !== null);
      for (const refresh of this.more) await refresh();
      this.askedAt = now;
    } catch (err) {
      this.log.warn({ event: 'health.count_failed', err }, "Couldn't count the backlog; metrics keep old values");
    }
  }
}

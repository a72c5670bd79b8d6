// Makes the notifications no lane makes: about items without an invoice, near deadlines, and the news of features.
import { type Clock } from '../../shared/domain/ports/clock.js';
import { type Notifications, NEWS_FOR_MS } from '../../frames/store/notifications.js';
import { type NewsOfFeatures } from '../../core/health/news.js';
import { type NewNotification, type NotifyAs, type Notice } from '../../shared/domain/notification.js';
import { putDown } from './rules/all.js';
import { reviewDueSoon, reviewOpened } from './rules/tell-lane.js';
import { NOTIFICATIONS_KEPT_DAYS, REVIEW_DUE_SOON_MS } from './rules/limits.js';

export class Lookout {
  private readonly stopping = new AbortController();
  private loop: Promise<void> | null = null;

  constructor(
    private readonly store: Notifications,
    private readonly news: Pick<NewsOfFeatures, 'read'>,
    private readonly clock: Clock,
    private readonly as: NotifyAs,
    private readonly everyMs: number,
    private readonly onError: (what: string, error: unknown) => void,
  ) {}

  start(): void {
    this.loop ??= this.run();
  }

  async stop(): Promise<void> {
    this.stopping.abort();
    await this.loop;
  }

  /**
   * Stores the missing notifications. Any replica may do this: notifications about the same reason have the same id, so
   * the database stores only one.
   */
  async poll(): Promise<void> {
    const { opened, dueSoon } = await this.store.untold(REVIEW_DUE_SOON_MS);
    const found: NewNotification[] = [];
    const add = (notice: Notice, at: Date): void => void found.push(putDown(notice, this.as, at));
    for (const r of opened) add(reviewOpened(r), r.createdAt);
    const now = await this.store.time();
    for (const r of dueSoon) add(reviewDueSoon(r), now);
    for (const { notified: notice, since } of await this.news.read())
      if (now.getTime() - since.getTime() < NEWS_FOR_MS) add(notice, now);
    await this.store.add(found);
  }

  private async run(): Promise<void> {
    let forgotAt = 0;
    while (!this.stopping.signal.aborted) {
      try {
        await this.poll();
        const now = this.clock.now().getTime();
        if (now - forgotAt > 3_600_000) {
          await this.store.forget(NOTIFICATIONS_KEPT_DAYS);
          forgotAt = now;
        }
      } catch (e) {
        this.onError("couldn't look for new notifications", e);
      }
      await this.clock.sleep(this.everyMs, this.stopping.signal);
    }
  }
}

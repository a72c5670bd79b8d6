// Notifications to the merchant's backend.
import { Module, type OnModuleInit } from '@nestjs/common';
import { HealthModule } from '../../core/health/health.module.js';
import { Lifecycle } from '../../core/health/lifecycle.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { CONFIG, type Config, notifies } from '../../shared/config/index.js';
import { Clock, Rng } from '../../shared/domain/ports/clock.js';
import { Receiver } from '../../shared/domain/ports/receiver.js';
import { Notifications } from '../../frames/store/notifications.js';
import { NewsOfFeatures } from '../../core/health/news.js';
import { Needs } from '../../frames/console/needs.js';
import { deadNeeds } from './dead.needs.js';
import { LOG, type Logger, Metrics } from '../../shared/observe/index.js';
import { NotificationJobs } from './jobs.js';
import { Lookout } from './lookout.js';
import { Notifier } from './notifier.js';
import { NotificationsController } from './notifications.controller.js';
import { NotificationPages } from './notifications.pages.js';
import { HttpReceiver } from './receiver.js';
import { LOOKOUT_EVERY_MS } from './rules/limits.js';

/**
 * The most deliveries at the same time. A receiver without a reply blocks these places for 15 seconds at most, and no
 * other work.
 */
const PLACES = 4;
const POLL_MS = 1_000;

/** How long the daemon's stop waits for a delivery under way. */
const GRACE_MS = 12_000;

@Module({
  imports: [ConsoleModule, HealthModule],
  controllers: [NotificationsController, NotificationPages],
  providers: [
    {
      provide: Receiver,
      useFactory: ({ notifyUrl, notifySecrets, proxies }: Config) =>
        new HttpReceiver(notifyUrl, notifySecrets, { proxies }),
      inject: [CONFIG],
    },
    {
      provide: NotificationJobs,
      useFactory: jobs,
      inject: [CONFIG, Notifications, Receiver, NewsOfFeatures, Clock, Rng, Metrics, LOG],
    },
  ],
})
export class NotificationsModule implements OnModuleInit {
  constructor(
    private readonly timers: NotificationJobs,
    private readonly lifecycle: Lifecycle,
    private readonly store: Notifications,
    private readonly needs: Needs,
  ) {}

  onModuleInit(): void {
    const { timers, store } = this;
    this.needs.add(async () => deadNeeds((await store.status()).dead));
    this.lifecycle.add({ start: () => timers.start(), stop: () => timers.stop(), graceMs: GRACE_MS });
  }
}

function jobs(
  config: Config,
  store: Notifications,
  receiver: Receiver,
  news: NewsOfFeatures,
  clock: Clock,
  rng: Rng,
  metrics: Metrics,
  log: Logger,
): NotificationJobs {
  const onError = (what: string, err: unknown): void => log.error({ event: 'notifications.failed', err }, what);
  const notifier = new Notifier(store, receiver, clock, rng, {
    places: PLACES,
    pollMs: POLL_MS,
    onError,
    onDelivery: (result, taken) => {
      metrics.notified(result.outcome);
      const line = { notification: taken.id, tries: taken.attempts, ms: result.elapsedMs, why: result.why };
      if (result.outcome === 'delivered') log.debug(line, 'notification delivered');
      else log.warn({ event: 'notifications.not_delivered', ...line }, 'a notification was not delivered');
    },
  });
  const lookout = new Lookout(store, news, clock, config, LOOKOUT_EVERY_MS, onError);
  return new NotificationJobs(notifier, notifies(config) ? lookout : null);
}

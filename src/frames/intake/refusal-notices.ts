// Notifies the merchant about refused deliveries at a webhook endpoint. After a start the first refusal gives a
// notification at once. Later refusals give at most one notification an hour.
import { type NewNotification, type Notice } from '../../shared/domain/notification.js';
import { type InboxSource } from '../../shared/domain/ports/inbox.js';
import { type Notifications } from '../store/notifications.js';
import { type Refusal, whatToCheck } from '../../shared/domain/refusal.js';
import { type Logger } from '../../shared/observe/index.js';
import { REFUSALS_NOTIFIED_EVERY_MS } from '../../shared/policy.js';
import { type EndpointOutcome, isTaken } from './options.js';

/** The pause after a failed write. The database may be the cause, so the next delivery must not cause the next try. */
const AGAIN_MS = 10_000;

/**
 * The refusals at one endpoint. `count`: since the last notification. `unsaid`: the database did not store the last
 * notification.
 */
type Trouble = { reason: Refusal; since: Date; count: number; quietUntil: number; isFirst: boolean; unsaid: boolean };

export class RefusalNotices {
  private readonly troubles = new Map<InboxSource, Trouble>();

  constructor(
    private readonly store: Pick<Notifications, 'add'>,
    /** Makes a notification. Null: the merchant has no receiver, or shadow mode is on. The log line is then enough. */
    private readonly putDown: ((notice: Notice, at: Date) => NewNotification) | null,
    private readonly log: Pick<Logger, 'error'>,
  ) {}

  /** Counts a reply of an endpoint. Each deploy refuses some deliveries as `stopping`, so these do not count. */
  saw(endpoint: InboxSource, outcome: EndpointOutcome, signed: boolean, at: Date): void {
    const known = this.troubles.get(endpoint);
    const isRefused = signed && !isTaken(outcome) && outcome !== 'aborted' && outcome !== 'stopping';
    if (!isRefused && known === undefined) return;
    const trouble = known ?? { reason: 'database', since: at, count: 0, quietUntil: 0, isFirst: true, unsaid: false };
    if (isRefused) {
      if (trouble.count === 0) trouble.since = at;
      trouble.count++;
      trouble.reason = outcome;
      this.troubles.set(endpoint, trouble);
    }
    // An accepted delivery shows a working database, so store the missing notification now.
    if ((isRefused || trouble.unsaid) && at.getTime() >= trouble.quietUntil) void this.tell(endpoint, trouble, at);
  }

  private async tell(endpoint: InboxSource, trouble: Trouble, at: Date): Promise<void> {
    const { reason, count, since, isFirst, unsaid } = trouble;
    const check = whatToCheck(endpoint, reason);
    const data = {
      endpoint,
      reason,
      check,
      refused: count,
      since: since.toISOString(),
      console: '/console/deliveries',
    };
    // `subject` identifies the notification: the first since the start by the time, every later notification by the
    // hour. If several replicas write the same hour, the database stores one notification.
    const when = isFirst ? at.toISOString() : String(Math.floor(at.getTime() / REFUSALS_NOTIFIED_EVERY_MS));
    trouble.quietUntil = at.getTime() + REFUSALS_NOTIFIED_EVERY_MS;
    trouble.isFirst = false;
    trouble.unsaid = false;
    trouble.count = 0;
    if (!unsaid)
      this.log.error({ event: 'webhooks.refusing', ...data }, `a webhook endpoint refuses deliveries: ${check}`);
    if (this.putDown === null) return;
    const notice = { type: 'webhooks.refusing', subject: `${endpoint}:${when}`, data } as const;
    try {
      await this.store.add([this.putDown(notice, at)]);
    } catch (err) {
      trouble.quietUntil = at.getTime() + AGAIN_MS;
      trouble.isFirst = isFirst;
      trouble.unsaid = true;
      trouble.count += count;
      trouble.since = since;
      this.log.error(
        { event: 'webhooks.notice_lost', err, endpoint },
        "Couldn't store the notification about refused deliveries; Crossbill tries again with the next delivery",
      );
    }
  }
}

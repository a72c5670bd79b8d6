// Tells when a door turns authentic-looking deliveries away and takes none: a wrong secret, a wrong clock, a database that takes nothing.
import { type DoorOutcome, TAKEN } from './options.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type Notifications } from '../domain/ports/notifications.js';
import { putDown } from '../notifications/rules/put-down.js';
import { type NotifyFormat, type Told } from '../domain/notification.js';
import { HOUR_MS, REFUSALS_TOLD, REFUSALS_WITHIN_MS } from '../policy.js';

type Why = Extract<Told, { type: 'doors.refusing' }>['data']['why'];

/** What a sender has to do with; what is malformed or half sent is none of them. */
const REFUSED: Partial<Record<DoorOutcome, Why>> = { mismatch: 'signature', stale: 'clock', 'not-stored': 'storage' };

/** The database may be what is wrong: then telling is tried again, and not with each delivery. */
const AGAIN_MS = 10_000;

type Trouble = { readonly why: Why; readonly since: number; lastAt: number; count: number; quietUntil: number };

export class DoorRefusals {
  private readonly troubles = new Map<InboxSource, Trouble>();

  constructor(
    private readonly store: Pick<Notifications, 'add'>,
    /** Null: nobody is told. */
    private readonly format: NotifyFormat | null,
    private readonly onError: (what: string, error: unknown) => void,
  ) {}

  /** A door answered. */
  saw(door: InboxSource, outcome: DoorOutcome, at: Date): void {
    if (this.format === null || !(outcome in REFUSED || TAKEN.has(outcome))) return;
    const why = REFUSED[outcome];
    const known = this.troubles.get(door);
    const now = at.getTime();
    if (why === undefined) {
      this.troubles.delete(door);
      // It was the database, which could not store word of its own failure.
      if (known !== undefined && known.count >= REFUSALS_TOLD && known.why === 'storage')
        void this.tell(door, known, at, this.format);
      return;
    }
    const same = known?.why === why && now - known.lastAt <= REFUSALS_WITHIN_MS;
    const trouble = same ? known : { why, since: now, lastAt: now, count: 0, quietUntil: 0 };
    trouble.lastAt = now;
    trouble.count++;
    this.troubles.set(door, trouble);
    if (trouble.count >= REFUSALS_TOLD && now >= trouble.quietUntil) void this.tell(door, trouble, at, this.format);
  }

  /** Once an hour for a door, whichever replicas see it. */
  private async tell(door: InboxSource, trouble: Trouble, at: Date, format: NotifyFormat): Promise<void> {
    const { why, count, since } = trouble;
    const hour = Math.floor(at.getTime() / HOUR_MS);
    const data = { door, why, refused: count, since: new Date(since).toISOString(), console: '/console/events' };
    trouble.quietUntil = (hour + 1) * HOUR_MS;
    try {
      await this.store.add([putDown({ type: 'doors.refusing', subject: `${door}:${hour}`, data }, format, at)]);
    } catch (e) {
      trouble.quietUntil = at.getTime() + AGAIN_MS;
      this.onError('could not tell the backend about a door that refuses deliveries', e);
    }
  }
}

// Plays senders that disable a webhook endpoint after hours without a success. Document 2 has the status `DISABLED` and
// does not say who sets it; Stripe disables an endpoint that fails for days (Stripe docs, "Webhooks"). By default no
// sender does.
import { type Fields, type JsonObject } from './json.js';

/** The senders, named as in `schedules.ts`. */
export const senders = ['stripe', 'mor_events', 'mor_payments'] as const;
export type Sender = (typeof senders)[number];

/** The part of an endpoint this file needs. */
type Failing = { readonly id: string; readonly url: string; readonly disable: () => void };
type Disabled = { readonly sender: Sender; readonly id: string; readonly url: string; readonly at: string };

const HOUR_MS = 3_600_000;
/** The most hours a test may choose. */
export const LONGEST_HOURS = 30 * 24;

export class FailingEndpoints {
  /** By sender: the hours without a success after which it disables an endpoint. Absent: never. */
  private readonly hours = new Map<Sender, number>();
  /** By endpoint: virtual milliseconds of the first failure since the last success. */
  private readonly since = new Map<string, number>();
  /** The endpoints disabled so far, oldest first. */
  readonly disabled: Disabled[] = [];

  /** `hours` null: these senders disable nothing. Endpoints that are disabled already stay so. */
  set(hours: number | null, of: readonly Sender[] = senders): void {
    for (const sender of of) {
      if (hours === null) this.hours.delete(sender);
      else this.hours.set(sender, hours);
    }
  }

  /** Reads the body of the control route: `{disable_after_hours, sender?}`. */
  setFrom(fields: Fields): void {
    const of = fields.has('sender') ? [fields.oneOf('sender', senders)] : senders;
    const off = fields.value['disable_after_hours'] === null;
    this.set(off ? null : fields.number('disable_after_hours', 0, LONGEST_HOURS), of);
  }

  /** Starts the count of an endpoint anew, for one that was switched on again or moved. */
  forget(endpointId: string): void {
    this.since.delete(endpointId);
  }

  /** Counts one attempt, and disables the endpoint once it has failed for the sender's hours. */
  saw(sender: Sender, endpoint: Failing, succeeded: boolean, nowMs: number): void {
    if (succeeded) {
      this.since.delete(endpoint.id);
      return;
    }
    const since = this.since.get(endpoint.id) ?? nowMs;
    this.since.set(endpoint.id, since);
    const hours = this.hours.get(sender);
    if (hours === undefined || nowMs - since < hours * HOUR_MS) return;
    this.since.delete(endpoint.id);
    this.disabled.push({ sender, id: endpoint.id, url: endpoint.url, at: new Date(nowMs).toISOString() });
    endpoint.disable();
  }

  /** The hours of each sender (null: never), and the disabled endpoints. */
  show(): JsonObject {
    const hours = Object.fromEntries(senders.map((sender) => [sender, this.hours.get(sender) ?? null]));
    return { disable_after_hours: hours, disabled: [...this.disabled] };
  }
}

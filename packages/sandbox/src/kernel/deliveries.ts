// Sends signed webhooks and retries them on the virtual clock. A log keeps every attempt.
import { Agent, request } from 'undici';
import { type VirtualClock } from './clock.js';
import { FailingEndpoints } from './failing-endpoints.js';
import { type FaultAction, type Faults } from './faults.js';
import { type Side } from './http.js';
import { type AttemptOutcome, type RetrySchedule } from './schedules.js';
import { signatureHeader } from './signature.js';

/**
 * Sends one signed POST to its receiver. Resolves with the status, or with null if no answer came in time. Never
 * rejects.
 */
export type Transport = (
  url: string,
  headers: Record<string, string>,
  body: Buffer,
  timeoutMs: number,
) => Promise<number | null>;

export type Endpoint = {
  readonly id: string;
  readonly url: string;
  readonly secret: string;
  /** The header of the signature: `Stripe-Signature`, `Mor-Signature` or `Service-Signature`. */
  readonly header: string;
  readonly side: Side;
  readonly schedule: RetrySchedule;
  /** False after the endpoint was deleted or disabled. Then the deliverer sends it nothing, not even retries. */
  readonly active: () => boolean;
  /** Switches the endpoint off, because the sender no longer tries an endpoint that fails for hours. */
  readonly disable: () => void;
};

export type OutgoingEvent = {
  /** The id of the event: the same in every attempt. */
  readonly id: string;
  readonly type: string;
  readonly body: Buffer;
  /** Called with the status of each attempt; null if no answer came. */
  readonly onAttempt?: (status: number | null) => void;
};

export type LoggedDelivery = {
  readonly event_id: string;
  readonly type: string;
  readonly url: string;
  readonly endpoint_id: string;
  readonly side: Side;
  readonly attempt: number;
  readonly at: string;
  status: number | null;
  /** `sending`, `acknowledged`, `retry`, `given_up`, `lost` (by a fault) or `held` (by a fault). */
  state: string;
  readonly signature_timestamp: number | null;
  next_try_at: string | null;
  fault: string | null;
};

type Job = { endpoint: Endpoint; event: OutgoingEvent; firstAtMs: number; firstStamp: number; restamp: boolean };
type Held = { job: Job; left: number };
type Sent = { readonly endpoint: Endpoint; readonly event: OutgoingEvent; readonly atMs: number };

const KEPT_DELIVERIES = 50_000;
const KEPT_EVENTS = 10_000; // kept with their bodies, to send them again
const SETTLE_MS = 3000; // the longest an advance waits for receivers at one instant
const HELD_AT_MOST_MS = 3_600_000;

export class Deliverer {
  /** Changes a signature before the send, to play a sender with another signature than in the documents. */
  writeSignature: (side: Side, header: string) => string = (_side, header) => header;
  readonly failing = new FailingEndpoints();
  private log: LoggedDelivery[] = [];
  private sent: Sent[] = [];
  private held: Held[] = [];
  private readonly running = new Set<Promise<void>>();
  private readonly agent = new Agent({ connections: 64, keepAliveTimeout: 4000 });
  private readonly transport: Transport;
  private closed = false;

  constructor(
    private readonly clock: VirtualClock,
    private readonly faults: Faults,
    transport?: Transport,
  ) {
    this.transport = transport ?? ((...args) => this.post(...args));
  }

  /** Starts the first attempt immediately. */
  send(endpoint: Endpoint, event: OutgoingEvent): void {
    this.sent.push({ endpoint, event, atMs: this.clock.nowMs() });
    if (this.sent.length > KEPT_EVENTS * 1.2) this.sent = this.sent.slice(-KEPT_EVENTS);
    this.start(endpoint, event);
  }

  /**
   * Sends every event of one sender since `sinceMs` again, in order, as Stripe or the MoR does on request. Returns the
   * number of events.
   */
  sendAgain(side: Side, sinceMs: number): number {
    const wanted = this.sent.filter((s) => s.endpoint.side === side && s.atMs >= sinceMs);
    for (const { endpoint, event } of wanted) this.start(endpoint, event);
    return wanted.length;
  }

  private start(endpoint: Endpoint, event: OutgoingEvent): void {
    const firstStamp = Math.floor(this.clock.wallMs() / 1000);
    const job: Job = { endpoint, event, firstAtMs: this.clock.nowMs(), firstStamp, restamp: true };
    const faults = this.faults.forDelivery(endpoint.side, event.type, endpoint.url, 1);
    const delay = faults.find((f) => f.kind === 'delay_ms');
    const other = faults.find((f) => f.kind !== 'delay_ms');
    if (other?.kind === 'restamp') job.restamp = false;
    if (delay !== undefined) {
      this.note(job, 0, 'held', null, 'delay_ms');
      this.clock.after(delay.delayMs, 'delayed delivery', () => this.begin(job, other));
    } else this.begin(job, other);
  }

  list(): readonly LoggedDelivery[] {
    return this.log;
  }

  clear(): void {
    this.log = [];
  }

  /** Waits until no attempt is under way, for three seconds at most. */
  async settle(): Promise<void> {
    if (this.running.size === 0) return;
    let timer: NodeJS.Timeout | undefined;
    const bound = new Promise<void>((resolve) => (timer = setTimeout(resolve, SETTLE_MS)));
    while (this.running.size > 0) {
      const idle = Promise.allSettled(this.running).then(() => true);
      if (!(await Promise.race([idle, bound.then(() => false)]))) break;
    }
    clearTimeout(timer);
  }

  async close(): Promise<void> {
    this.closed = true;
    await this.agent.destroy();
  }

  private begin(job: Job, fault: FaultAction | undefined): void {
    if (fault?.kind === 'lose') {
      this.note(job, 0, 'lost', null, 'lose');
      return;
    }
    if (fault?.kind === 'reorder') {
      const held: Held = { job, left: fault.after };
      this.held.push(held);
      this.note(job, 0, 'held', null, 'reorder');
      this.clock.after(HELD_AT_MOST_MS, 'release a held delivery', () => this.release(held));
      return;
    }
    this.attempt(job, 1, fault?.kind === 'fail' ? fault : undefined);
    if (fault?.kind === 'duplicate') this.attempt(job, 1, undefined, 'duplicate');
    for (const held of [...this.held]) {
      held.left -= 1;
      if (held.left <= 0) this.release(held);
    }
  }

  private release(held: Held): void {
    if (!this.held.includes(held)) return;
    this.held = this.held.filter((h) => h !== held);
    // Sends the held delivery 20 ms later, so it goes out after the delivery that released it.
    this.clock.after(20, 'a held delivery', () => this.attempt(held.job, 1, undefined));
  }

  private attempt(job: Job, attempt: number, failing: FaultAction | undefined, as: string | null = null): void {
    const work = this.attemptNow(job, attempt, failing, as).finally(() => this.running.delete(work));
    this.running.add(work);
  }

  private async attemptNow(
    job: Job,
    attempt: number,
    failing: FaultAction | undefined,
    as: string | null,
  ): Promise<void> {
    const { endpoint, event } = job;
    if (this.closed || !endpoint.active()) return;
    const wallSec = Math.floor(this.clock.wallMs() / 1000);
    // If `job.restamp` is true, each retry has a new timestamp. If it is false, a retry keeps the time of the first
    // attempt, so the receiver sees an old signature.
    const ageSec = Math.floor((this.clock.nowMs() - job.firstAtMs) / 1000);
    const stamp = job.restamp ? wallSec : Math.min(job.firstStamp, wallSec - ageSec);
    const entry = this.note(job, attempt, 'sending', stamp, failing !== undefined ? 'fail' : as);
    const headers = {
      'content-type': 'application/json; charset=utf-8',
      'user-agent': 'Crossbill-Sandbox/1',
      [endpoint.header.toLowerCase()]: this.writeSignature(
        endpoint.side,
        signatureHeader(event.body, endpoint.secret, stamp),
      ),
    };
    const { url, schedule } = endpoint;
    const status = failing !== undefined ? null : await this.transport(url, headers, event.body, schedule.timeoutMs);
    entry.status = status;
    event.onAttempt?.(status);
    if (as === 'duplicate') {
      entry.state = 'duplicate';
      return;
    }
    this.plan(job, attempt, entry, { status });
  }

  private plan(job: Job, attempt: number, entry: LoggedDelivery, outcome: AttemptOutcome): void {
    const { endpoint, event } = job;
    const next = endpoint.schedule.after(attempt, outcome, this.clock.nowMs() - job.firstAtMs);
    this.failing.saw(endpoint.schedule.name, endpoint, next === 'done', this.clock.nowMs());
    if (next === 'done' || next === 'stop') {
      entry.state = next === 'done' ? 'acknowledged' : 'given_up';
      return;
    }
    const dueMs = this.clock.nowMs() + next;
    entry.state = 'retry';
    entry.next_try_at = new Date(dueMs).toISOString();
    this.clock.at(dueMs, `retry of ${event.id}`, () => {
      const failing = this.faults.forDelivery(endpoint.side, event.type, endpoint.url, attempt + 1);
      this.attempt(
        job,
        attempt + 1,
        failing.find((f) => f.kind === 'fail'),
      );
    });
  }

  private note(job: Job, attempt: number, state: string, stamp: number | null, fault: string | null): LoggedDelivery {
    const { endpoint, event } = job;
    const entry: LoggedDelivery = {
      event_id: event.id,
      type: event.type,
      url: endpoint.url,
      endpoint_id: endpoint.id,
      side: endpoint.side,
      attempt,
      at: this.clock.nowIso(),
      status: null,
      state,
      signature_timestamp: stamp,
      next_try_at: null,
      fault,
    };
    this.log.push(entry);
    if (this.log.length > KEPT_DELIVERIES * 1.2) this.log = this.log.slice(-KEPT_DELIVERIES);
    return entry;
  }

  private async post(
    url: string,
    headers: Record<string, string>,
    body: Buffer,
    timeoutMs: number,
  ): Promise<number | null> {
    try {
      const signal = AbortSignal.timeout(timeoutMs);
      const reply = await request(url, { method: 'POST', headers, body, signal, dispatcher: this.agent });
      await reply.body.dump();
      return reply.statusCode;
    } catch {
      return null; // refused, reset or too late
    }
  }
}

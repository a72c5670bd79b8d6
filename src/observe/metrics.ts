// The numbers an operator watches, in a registry of our own. Labels are bounded: no id, amount or text from outside becomes one.
import { linesDropped } from './log-target.js';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type EventSource = 'stripe' | 'mor_payments' | 'mor_events' | 'crossbill';
export type EventOutcome = 'stored' | 'duplicate' | 'conflict' | 'done' | 'ignored' | 'parked' | 'quarantined';
export type Peer = 'stripe' | 'mor';
/** How a call ended: `answered`, or the kind of its failure (see `FailureKind`). */
export type MeasuredOutcome = 'answered' | 'refused' | 'retry' | 'unknown' | 'stopped';
export type Queue = 'inbox' | 'outbox';

export type MetricsOptions = {
  /** Event types that get a label of their own; every other one counts as `other`. */
  readonly eventTypes: Iterable<string>;
  /** The time now, for the age of the oldest unfinished item. */
  readonly now: () => Date;
};

/** What `GET /metrics` shows, and the methods that move it. Every number is of this process since it started, unless its help says so. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly eventTypes: ReadonlySet<string>;
  private oldestAt: Date | null = null;

  private readonly events = new Counter({
    name: 'crossbill_events_total',
    help: 'Webhook events by sender, type (types we do not know are "other") and what became of them.',
    labelNames: ['source', 'type', 'outcome'],
    registers: [this.registry],
  });
  private readonly webhookAnswers = new Counter({
    name: 'crossbill_webhook_answers_total',
    help: 'Answers of the webhook endpoints, by endpoint and HTTP status.',
    labelNames: ['endpoint', 'status'],
    registers: [this.registry],
  });
  private readonly depth = new Gauge({
    name: 'crossbill_queue_depth',
    help: 'Items that wait to be worked on, in the whole database: events not yet decided (inbox), calls not yet confirmed (outbox).',
    labelNames: ['queue'],
    registers: [this.registry],
  });
  private readonly calls = new Counter({
    name: 'crossbill_calls_total',
    help: 'Calls to Stripe and to the MoR, every try counted, by what was called and how it ended.',
    labelNames: ['peer', 'call', 'outcome'],
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: 'crossbill_mor_refusals_total',
    help: 'Calls that the MoR refused for good, by call and error code (codes that its documents do not list are "other"). Codes that begin with integration_ mean that its tax integration does not work for this merchant.',
    labelNames: ['call', 'code'],
    registers: [this.registry],
  });
  private readonly callSeconds = new Histogram({
    name: 'crossbill_call_seconds',
    help: 'How long a call to Stripe or to the MoR took, one try at a time, in seconds.',
    labelNames: ['peer', 'call'],
    buckets: [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6],
    registers: [this.registry],
  });
  private readonly reviews = new Gauge({
    name: 'crossbill_reviews_open',
    help: 'Review items that wait for a person, in the whole database, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  private readonly webhookRefusals = new Counter({
    name: 'crossbill_webhook_refusals_total',
    help: 'Deliveries that the webhook endpoints refused, by endpoint and reason; `unknown` is a request whose head could not be read.',
    labelNames: ['endpoint', 'reason'],
    registers: [this.registry],
  });
  private readonly parked = new Gauge({
    name: 'crossbill_events_parked',
    help: 'Authentic events that could not be used or decided and wait for a person, in the whole database.',
    registers: [this.registry],
  });
  private readonly decisions = new Counter({
    name: 'crossbill_decisions_total',
    help: 'Decisions taken, by flow and decision.',
    labelNames: ['flow', 'decision'],
    registers: [this.registry],
  });

  private readonly differences = new Gauge({
    name: 'crossbill_verify_differences',
    help: 'Differences that the newest verify run found and no open review item tells of, in the whole database, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  private readonly lastVerified = new Gauge({
    name: 'crossbill_verify_last_success_timestamp_seconds',
    help: 'When the newest verify run ended that could compare everything, whatever it found; 0 until one did.',
    registers: [this.registry],
  });

  private readonly shadow = new Gauge({
    name: 'crossbill_shadow_marks',
    help: 'In shadow mode: marks that were decided, in the whole database, by whether somebody else has made them (agreed) or not (unmarked).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  private readonly notifications = new Gauge({
    name: 'crossbill_notifications',
    help: 'Notifications of your backend that wait to be delivered (pending) or were given up after three days (dead), in the whole database.',
    labelNames: ['status'],
    registers: [this.registry],
  });
  private readonly receiverGone = new Gauge({
    name: 'crossbill_notification_receiver_gone',
    help: '1 while nothing is sent since the receiver at NOTIFY_URL answered 410, else 0; in the whole database.',
    registers: [this.registry],
  });
  private readonly deliveries = new Counter({
    name: 'crossbill_notification_deliveries_total',
    help: 'Tries to deliver a notification, by what came of them: delivered, failed, or gone (410).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor(options: MetricsOptions) {
    this.eventTypes = new Set(options.eventTypes);
    const age = (): number =>
      this.oldestAt === null ? 0 : Math.max(0, (options.now().getTime() - this.oldestAt.getTime()) / 1000);
    new Gauge({
      name: 'crossbill_queue_oldest_age_seconds',
      help: 'Age of the oldest event not yet decided or call not yet confirmed, in the whole database, due now or later, in seconds; 0 when there is none.',
      registers: [this.registry],
      // Computed when it is read: the age goes on growing when the loop that measures the queues is the thing that is stuck.
      collect() {
        this.set(age());
      },
    });
    new Counter({
      name: 'crossbill_log_lines_dropped_total',
      help: 'Log lines that were lost because the standard output did not take them: a full disk, or a reader that stands still.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(linesDropped());
      },
    });
    collectDefaultMetrics({ register: this.registry });
  }

  /** An event was stored or decided. */
  event(source: EventSource, type: string, outcome: EventOutcome): void {
    this.events.inc({ source, type: this.eventTypes.has(type) ? type : 'other', outcome });
  }

  /** A webhook endpoint gave this answer. */
  webhookAnswer(endpoint: EventSource, status: number): void {
    this.webhookAnswers.inc({ endpoint, status });
  }

  /** A webhook endpoint refused a delivery. @param reason the code of the answer @param endpoint null: nobody knows which */
  webhookRefusal(endpoint: EventSource | null, reason: string): void {
    this.webhookRefusals.inc({ endpoint: endpoint ?? 'unknown', reason });
  }

  /** A call ended. @param call a name from our code, such as `report_payment`; never a path @param seconds of this one try */
  call(peer: Peer, call: string, outcome: MeasuredOutcome, seconds: number): void {
    this.calls.inc({ peer, call, outcome });
    this.callSeconds.observe({ peer, call }, seconds);
  }

  /** The MoR refused a call. @param code a code of its documents, `other` or `none` */
  refusal(call: string, code: string): void {
    this.refusals.inc({ call, code });
  }

  /** A flow decided. Both are names from our code. */
  decision(flow: string, decision: string): void {
    this.decisions.inc({ flow, decision });
  }

  /** How many events are parked now. */
  eventsParked(count: number): void {
    this.parked.set(count);
  }

  /** What the queues hold now. @param oldestAt since when the oldest unfinished item waits; null: nothing waits */
  queues(depths: Readonly<Record<Queue, number>>, oldestAt: Date | null): void {
    this.depth.set({ queue: 'inbox' }, depths.inbox);
    this.depth.set({ queue: 'outbox' }, depths.outbox);
    this.oldestAt = oldestAt;
  }

  /** Open review items by kind; a kind that is left out has none. */
  reviewsOpen(counts: Readonly<Record<string, number>>): void {
    this.reviews.reset();
    for (const [kind, count] of Object.entries(counts)) this.reviews.set({ kind }, count);
  }

  /** What the newest verify run found. @param lastSuccessAt when the newest run ended that compared everything; null: none did */
  verified(counts: Readonly<Record<string, number>>, lastSuccessAt: Date | null): void {
    for (const [kind, count] of Object.entries(counts)) this.differences.set({ kind }, count);
    if (lastSuccessAt !== null) this.lastVerified.set(lastSuccessAt.getTime() / 1000);
  }

  /** How shadow mode stands. */
  shadowMarks(agreed: number, unmarked: number): void {
    this.shadow.set({ outcome: 'agreed' }, agreed);
    this.shadow.set({ outcome: 'unmarked' }, unmarked);
  }

  /** How the notifications stand. */
  notificationsStand(pending: number, dead: number, gone: boolean): void {
    this.notifications.set({ status: 'pending' }, pending);
    this.notifications.set({ status: 'dead' }, dead);
    this.receiverGone.set(gone ? 1 : 0);
  }

  /** A notification was sent. */
  notified(outcome: 'delivered' | 'failed' | 'gone'): void {
    this.deliveries.inc({ outcome });
  }

  /** The page for the scraper, in the Prometheus text format. */
  async text(): Promise<string> {
    return this.registry.metrics();
  }

  /** The content type of `text()`. */
  get contentType(): string {
    return this.registry.contentType;
  }
}

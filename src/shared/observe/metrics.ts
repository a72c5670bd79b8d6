// The metrics for an operator, in our own registry. Labels are bounded: no id, amount or outside text becomes a label.
import { VERSION } from '../config/version.js';
import { linesDropped } from './log-target.js';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';

export type EventSource = 'stripe' | 'mor_payments' | 'mor_events' | 'crossbill';
export type EventOutcome = 'stored' | 'duplicate' | 'conflict' | 'done' | 'ignored' | 'parked' | 'quarantined';
export type Peer = 'stripe' | 'mor';
/** The outcome of a call: `answered`, or the kind of its failure (see `FailureKind`). */
export type MeasuredOutcome = 'answered' | 'refused' | 'retry' | 'unknown' | 'stopped';
export type Queue = 'inbox' | 'outbox';

export type MetricsOptions = {
  /** Event types with a label of their own. All others count as `other`. */
  readonly eventTypes: Iterable<string>;
  readonly now: () => Date;
};

/** The numbers of `GET /metrics`: of this process since its start, or of the database if the help text says so. */
export class Metrics {
  private readonly registry = new Registry();
  private readonly eventTypes: ReadonlySet<string>;
  private oldestAt: Date | null = null;

  private readonly events = new Counter({
    name: 'crossbill_events_total',
    help: 'Webhook events by sender, type (an unknown one is "other") and outcome.',
    labelNames: ['source', 'type', 'outcome'],
    registers: [this.registry],
  });
  private readonly webhookReplies = new Counter({
    name: 'crossbill_webhook_answers_total',
    help: 'Answers of the webhook endpoints, by endpoint and HTTP status.',
    labelNames: ['endpoint', 'status'],
    registers: [this.registry],
  });
  private readonly depth = new Gauge({
    name: 'crossbill_queue_depth',
    help: 'Waiting items in the whole database: undecided events (inbox), unconfirmed calls (outbox).',
    labelNames: ['queue'],
    registers: [this.registry],
  });
  private readonly calls = new Counter({
    name: 'crossbill_calls_total',
    help: 'Tries of calls to Stripe and to the MoR, by call and outcome.',
    labelNames: ['peer', 'call', 'outcome'],
    registers: [this.registry],
  });
  private readonly refusals = new Counter({
    name: 'crossbill_mor_refusals_total',
    help: 'Refusals by the MoR, by call and error code (a code outside its documents is "other"). With integration_ at the start of the code, the tax integration of the MoR does not work for this merchant.',
    labelNames: ['call', 'code'],
    registers: [this.registry],
  });
  private readonly callSeconds = new Histogram({
    name: 'crossbill_call_seconds',
    help: 'Seconds of one try of a call to Stripe or to the MoR.',
    labelNames: ['peer', 'call'],
    buckets: [0.025, 0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6],
    registers: [this.registry],
  });
  private readonly reviews = new Gauge({
    name: 'crossbill_reviews_open',
    help: 'Open review items in the whole database, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  private readonly reviewsDue = new Gauge({
    name: 'crossbill_review_due_seconds',
    help: 'Seconds until the first deadline of the open review items, by kind; below zero after it. A kind without a deadline has no value.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  private readonly webhookRefusals = new Counter({
    name: 'crossbill_webhook_refusals_total',
    help: 'Deliveries refused by the webhook endpoints, by endpoint and reason; `unknown` is a request with an unreadable head.',
    labelNames: ['endpoint', 'reason'],
    registers: [this.registry],
  });
  private readonly parked = new Gauge({
    name: 'crossbill_events_parked',
    help: 'Authentic events in the whole database that Crossbill cannot use or decide: they wait for a person.',
    registers: [this.registry],
  });
  private readonly decisions = new Counter({
    name: 'crossbill_decisions_total',
    help: 'Decisions, by flow and decision.',
    labelNames: ['flow', 'decision'],
    registers: [this.registry],
  });

  private readonly differences = new Gauge({
    name: 'crossbill_verify_differences',
    help: 'Differences of the newest verify run without an open review item, in the whole database, by kind.',
    labelNames: ['kind'],
    registers: [this.registry],
  });
  private readonly lastVerified = new Gauge({
    name: 'crossbill_verify_last_success_timestamp_seconds',
    help: 'End of the newest complete verify run, with or without differences; 0 before the first one.',
    registers: [this.registry],
  });

  private readonly notifications = new Gauge({
    name: 'crossbill_notifications',
    help: 'Notifications in the whole database that wait for their delivery (pending) or failed for three days (dead).',
    labelNames: ['status'],
    registers: [this.registry],
  });
  private readonly receiverGone = new Gauge({
    name: 'crossbill_notification_receiver_gone',
    help: 'In the whole database: 1 if the receiver at NOTIFY_URL answered 410, so Crossbill sends nothing; else 0.',
    registers: [this.registry],
  });
  private readonly deliveries = new Counter({
    name: 'crossbill_notification_deliveries_total',
    help: 'The number of tries to deliver a notification, by outcome: delivered, failed, or gone (410).',
    labelNames: ['outcome'],
    registers: [this.registry],
  });

  constructor(options: MetricsOptions) {
    this.eventTypes = new Set(options.eventTypes);
    const age = (): number =>
      this.oldestAt === null ? 0 : Math.max(0, (options.now().getTime() - this.oldestAt.getTime()) / 1000);
    new Gauge({
      name: 'crossbill_queue_oldest_age_seconds',
      help: 'Seconds since the oldest undecided event or unconfirmed call in the whole database, due now or later; 0 without one.',
      registers: [this.registry],
      // Computes the age at each scrape. So the age of the oldest waiting work grows even while the database does not
      // reply.
      collect() {
        this.set(age());
      },
    });
    new Gauge({
      name: 'crossbill_build_info',
      help: 'Always 1; the label is the version of this replica.',
      labelNames: ['version'],
      registers: [this.registry],
    }).set({ version: VERSION }, 1);
    new Counter({
      name: 'crossbill_log_lines_dropped_total',
      help: 'Log lines lost at the standard output: a full disk, or a stuck reader.',
      registers: [this.registry],
      collect() {
        this.reset();
        this.inc(linesDropped());
      },
    });
    collectDefaultMetrics({ register: this.registry });
  }

  event(source: EventSource, type: string, outcome: EventOutcome): void {
    this.events.inc({ source, type: this.eventTypes.has(type) ? type : 'other', outcome });
  }

  webhookReply(endpoint: EventSource, status: number): void {
    this.webhookReplies.inc({ endpoint, status });
  }

  /**
   * @param reason the error code of the response
   * @param endpoint null: unknown
   */
  webhookRefusal(endpoint: EventSource | null, reason: string): void {
    this.webhookRefusals.inc({ endpoint: endpoint ?? 'unknown', reason });
  }

  /**
   * @param call a name from our code, such as `report_payment`; never a path
   * @param seconds the duration of this one try
   */
  call(peer: Peer, call: string, outcome: MeasuredOutcome, seconds: number): void {
    this.calls.inc({ peer, call, outcome });
    this.callSeconds.observe({ peer, call }, seconds);
  }

  /** @param code a code from the MoR's documents, `other` or `none` */
  refusal(call: string, code: string): void {
    this.refusals.inc({ call, code });
  }

  decision(flow: string, decision: string): void {
    this.decisions.inc({ flow, decision });
  }

  eventsParked(count: number): void {
    this.parked.set(count);
  }

  /** @param oldestAt the start of the oldest unfinished work; null: nothing waits */
  queues(depths: Readonly<Record<Queue, number>>, oldestAt: Date | null): void {
    this.depth.set({ queue: 'inbox' }, depths.inbox);
    this.depth.set({ queue: 'outbox' }, depths.outbox);
    this.oldestAt = oldestAt;
  }

  /**
   * @param counts open items by kind; a missing kind has none
   * @param dueSeconds the seconds until the first deadline of a kind; a missing kind has no deadline
   */
  reviewsOpen(counts: Readonly<Record<string, number>>, dueSeconds: Readonly<Record<string, number>> = {}): void {
    this.reviews.reset();
    this.reviewsDue.reset();
    for (const [kind, count] of Object.entries(counts)) this.reviews.set({ kind }, count);
    for (const [kind, seconds] of Object.entries(dueSeconds)) this.reviewsDue.set({ kind }, seconds);
  }

  /**
   * @param counts differences of every kind
   * @param lastSuccessAt the end of the newest complete run; null: there is none
   */
  verified(counts: Readonly<Record<string, number>>, lastSuccessAt: Date | null): void {
    for (const [kind, count] of Object.entries(counts)) this.differences.set({ kind }, count);
    if (lastSuccessAt !== null) this.lastVerified.set(lastSuccessAt.getTime() / 1000);
  }

  /** Registers a feature's own gauge. */
  gauge<L extends string>(name: string, help: string, labelNames: readonly L[]): Gauge<L> {
    return new Gauge({ name, help, labelNames: [...labelNames], registers: [this.registry] });
  }

  notificationsStand(pending: number, dead: number, gone: boolean): void {
    this.notifications.set({ status: 'pending' }, pending);
    this.notifications.set({ status: 'dead' }, dead);
    this.receiverGone.set(gone ? 1 : 0);
  }

  notified(outcome: 'delivered' | 'failed' | 'gone'): void {
    this.deliveries.inc({ outcome });
  }

  async text(): Promise<string> {
    return this.registry.metrics();
  }

  get contentType(): string {
    return this.registry.contentType;
  }
}

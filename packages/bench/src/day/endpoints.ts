// Delivers events to the webhook endpoints, as Stripe and the MoR do. The events of the plan go at their time. An event
// caused by a call of the daemon follows after a pause.
import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SECRET } from '../events.js';
import { dispute, type Endpoint, HEADERS, invoiceEvent, refunded, verdict } from './bodies.js';
import { type Client } from './client.js';
import {
  DISPUTE_AFTER,
  dueMs,
  fateOf,
  isCharged,
  isDisputed,
  OUTCOME_AFTER,
  outcomeOf,
  type Plan,
  type Stream,
} from './plan.js';
import { type Notified } from './peers.js';

/** Without a 200 the sender repeats the delivery after this time. */
const AGAIN_MS = 5_000;
/** The time between a change at Stripe or the MoR and the delivery of its event. */
const NEWS_MS = 1_000;

const KINDS: Readonly<Record<Endpoint, string>> = {
  '/webhooks/stripe': 'endpoint of Stripe',
  '/webhooks/mor/payments': 'endpoint of the MoR, payments',
  '/webhooks/mor/events': 'endpoint of the MoR, events',
};

export class EndpointTraffic {
  /** The number of accepted events. */
  taken = 0;
  /** The number of 503 responses. The contract allows these: the sender repeats the delivery. */
  again = 0;
  disputes = 0;
  /** The marked renewals, in the order of Stripe's events. */
  readonly marked: number[] = [];
  /** The number of events still to send. */
  waiting = 0;

  /** @param onMarked called for each renewal shown as paid by Stripe */
  constructor(
    private readonly plan: Plan,
    private readonly beganMs: number,
    private readonly client: Client,
    private readonly onMarked: (index: number) => void,
  ) {}

  /** Sends the events of the plan. Resolves when the daemon has accepted all of them. */
  async run(): Promise<void> {
    const streams: readonly Stream[] = ['created', 'finalized', 'verdict'];
    await Promise.all(streams.map((stream) => this.stream(stream)));
  }

  heard(notice: Notified): void {
    const atMs = this.client.now() + NEWS_MS;
    if (notice.what === 'invoice') {
      const { type, k } = notice;
      if (type === 'paid') {
        this.marked.push(k);
        this.onMarked(k);
        if (isDisputed(k)) this.disputed(k);
      }
      void this.later('/webhooks/stripe', atMs, () => invoiceEvent(type, k, this.createdSec(k), nowSec()));
    } else if (notice.what === 'charged') {
      const { k, tries } = notice;
      void this.later('/webhooks/mor/payments', atMs, () => verdict(k, tries, isCharged(k, tries) ? null : 'soft'));
    } else if (notice.what === 'refunded') {
      void this.later('/webhooks/mor/payments', atMs, () => refunded(notice.k, notice.tries, notice.amount));
    }
  }

  private disputed(index: number): void {
    const atMs = this.client.now() + DISPUTE_AFTER * this.plan.dayMs;
    this.disputes++;
    void this.later('/webhooks/mor/events', atMs, () => dispute(index, 0, null));
    const outcome = outcomeOf(index);
    if (outcome === null) return;
    void this.later('/webhooks/mor/events', atMs + OUTCOME_AFTER * this.plan.dayMs, () => dispute(index, 0, outcome));
  }

  private readonly createdSec = (k: number): number =>
    Math.floor((this.beganMs + dueMs(this.plan, 'created', k)) / 1_000);

  private async stream(stream: Stream): Promise<void> {
    const sent: Promise<void>[] = [];
    for (let k = 0; k < this.plan.renewals; k++) {
      const atMs = dueMs(this.plan, stream, k);
      if (atMs > this.client.now() + 1) await this.client.until(atMs);
      sent.push(this.deliver(...this.planned(stream, k), atMs));
    }
    await Promise.all(sent);
  }

  private planned(stream: Stream, index: number): [Endpoint, string] {
    if (stream !== 'verdict')
      return ['/webhooks/stripe', invoiceEvent(stream, index, this.createdSec(index), nowSec())];
    const fate = fateOf(index);
    return ['/webhooks/mor/payments', verdict(index, 0, fate === 'paid' ? null : fate)];
  }

  private async later(endpoint: Endpoint, atMs: number, body: () => string): Promise<void> {
    this.waiting++;
    await this.client.until(atMs);
    await this.deliver(endpoint, body(), atMs);
    this.waiting--;
  }

  private async deliver(endpoint: Endpoint, body: string, firstMs: number): Promise<void> {
    for (let atMs = firstMs; ; atMs = this.client.now()) {
      const t = nowSec();
      const v1 = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex');
      const headers = { 'content-type': 'application/json', [HEADERS[endpoint]]: `t=${t},v1=${v1}` };
      const { status, text } = await this.client.send({
        part: 'endpoints',
        kind: KINDS[endpoint],
        atMs,
        method: 'POST',
        path: endpoint,
        headers,
        body,
      });
      if (status === 200) {
        this.taken++;
        return;
      }
      if (status === 503) this.again++;
      else this.client.replies.unexpected(`${endpoint}: ${status} ${text.slice(0, 200)}`);
      await pause(AGAIN_MS);
    }
  }
}

const nowSec = (): number => Math.floor(Date.now() / 1_000);

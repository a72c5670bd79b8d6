// One simulated world: the sandbox as Stripe and the MoR, two replicas on one database, the network and the time.
import { createHash } from 'node:crypto';
import { stripeInvoiceTypes } from '#src/shared/domain/events/stripe-event.js';
import { type Delivery } from '#src/shared/domain/ports/receiver.js';
import { type DecisionSettings } from '#src/shared/domain/settings.js';
import { type VerifyReport } from '#src/features/verify/verify.service.js';
import { type Side } from '@crossbill/sandbox/kernel/side.js';
import { makeSandbox, type SandboxCore } from '@crossbill/sandbox/sandbox.js';
import { type Acknowledged, type Copied, type Dispute, type Gap, type HandMade } from '../acts/facts.js';
import { deliveryFaults, type FaultKind } from './faults.js';
import { Planted } from '../acts/planted.js';
import { Replica } from './replica.js';
import { type Owner, Scheduler } from './scheduler.js';
import { CountingIds, Seeded } from './seeded.js';
import { SentRules } from '../rules/sent.js';
import { type SimRepository } from './sim-repository.js';
import { type Network, type Sent } from './wires.js';

export const START_MS = Date.UTC(2026, 10, 20, 8);
const ENDPOINTS: Readonly<Record<string, string>> = {
  stripe: '/webhooks/stripe',
  mor_payments: '/webhooks/mor/payments',
  mor_events: '/webhooks/mor/events',
};
/** The event types Crossbill subscribes to at Stripe, and one type it does not use. */
const SUBSCRIBED = [...stripeInvoiceTypes, 'credit_note.created'];
const RESTART_AT_MOST_SEC = 90;
const COPIES_KEPT = 1_000;
const LONGEST_LEASE_MS = 30_000;

export type WorldSetup = {
  readonly seed: string;
  readonly settings: DecisionSettings;
  /** True: Crossbill sends notifications to the merchant's backend. Left out: false. */
  readonly notifies?: boolean;
  /** Stripe's limit of requests a second, from all replicas together. Absent: no limit. */
  readonly pace?: number | null;
  /** True: the database has a standby, which may take over without the last commits. Left out: false. */
  readonly standby?: boolean;
  /** False: the first ready actor goes first, so the same story takes the same steps. */
  readonly shuffled: boolean;
  readonly keepTrace: boolean;
  /** True: a run over months. The scheduler keeps no list of its steps. */
  readonly long?: boolean;
  readonly repository: SimRepository;
};

export class World {
  readonly scheduler: Scheduler;
  readonly sandbox: SandboxCore;
  readonly rng: Seeded;
  readonly repository: SimRepository;
  readonly settings: DecisionSettings;
  readonly notifies: boolean;
  readonly standby: boolean;
  readonly pace: number | null;
  /** Times of requests to Stripe, in milliseconds since 1970. Kept only in a world with a limit. */
  readonly askedStripeAt: number[] = [];
  /** Everything the merchant's backend received, repeats included. */
  readonly heard: Delivery[] = [];
  /** Ids of notifications a restore removed. A replica may still send those in its memory. */
  readonly forgotten = new Set<string>();
  readonly acknowledged: Acknowledged[] = [];
  readonly copied: Copied[] = [];
  /** Customer → the number of further cards the shop reported for this customer. */
  readonly cardsGiven = new Map<string, number>();
  /** Invoices the merchant marked as paid by hand. */
  readonly paidByHand = new Set<string>();
  /** Refunds Stripe cannot show, after a person dismissed their items. Every verify reports them again. */
  readonly leftUnshown = new Set<string>();
  /**
   * Invoices with a payment of a wrong amount, applied or dismissed by a person. Verify reports the surplus each time.
   */
  readonly leftToCustomer = new Set<string>();
  /** Changes a person made by hand on Stripe, unknown to Crossbill: the invoice, and the object verify must name. */
  readonly byHand: { readonly what: HandMade; readonly invoiceId: string; readonly objectId: string }[] = [];
  /** Invoices the MoR charged again on its own. */
  readonly triedByMor = new Set<string>();
  /** Invoices with a payment the MoR reported as failed after its success. */
  readonly contradicted = new Set<string>();
  /** The charge of a signup → its first invoice, as the shop knows it. The MoR may never learn of the invoice. */
  readonly signupOf = new Map<string, string>();
  /** Signups completed with an amount that differs from the requested one. */
  readonly misnamed = new Set<string>();
  /** The idempotency key of a payment link → its invoice. */
  readonly linkOf = new Map<string, string>();
  readonly planted = new Planted();
  /** Periods missing in the database after a restore. */
  readonly gaps: Gap[] = [];
  /** True while a copy of the database exists: a restore may lose later events. */
  mayBeLost = false;
  readonly disputes: Dispute[] = [];
  readonly alerts: { readonly alertId: string; readonly paymentId: string; readonly refunded: boolean }[] = [];
  /** Returns true to lose an event on its way. Its sender believes it delivered the event. */
  loses: (type: string, body: Buffer) => boolean = () => false;
  /** Returns true if a delivery of this sender gets no answer, as behind a broken proxy. The sender tries again. */
  refuses: (source: string) => boolean = () => false;
  readonly lost: { readonly source: string; readonly type: string; readonly eventId: string }[] = [];
  /** Which of Stripe and the MoR is unreachable now. */
  readonly down = new Set<Side>();
  /** Which of Stripe and the MoR was unreachable at some time. */
  readonly wasDown = new Set<Side>();
  /** Paths at Stripe or the MoR without an answer. */
  readonly unanswered = new Set<string>();
  /** Number of verify runs resumed after an interruption. */
  resumed = 0;
  /** Called after each successful write at Stripe or the MoR, so a story can act between two writes. */
  onEffect: (path: string) => void = () => undefined;
  /** Lets `steps` more database steps happen, then a standby without them takes over. The default does nothing. */
  onFailover: (steps: number) => Promise<void> = () => Promise.resolve();
  /**
   * Returns a second delivery under the same event id, with another body and a valid signature. The world sends it
   * right after the first. Null: no second delivery.
   */
  twinOf: (delivery: Omit<Copied, 'at'>) => Omit<Copied, 'at'> | null = () => null;
  /** Called for each delivery when it goes out. */
  onSent: (delivery: Copied) => void = () => undefined;
  /** Called with the report of each daily verify. */
  onVerified: (report: VerifyReport) => void = () => undefined;
  /** Holds up every delivery, for stories about the order of events. Null: deliveries go out at once. */
  gate: ((body: Buffer) => Promise<void>) | null = null;
  private names = 0;
  readonly network: Network;
  private readonly outside: Owner = { name: 'world', mortal: false, alive: true, pausedUntil: 0 };
  private readonly lives: [Replica | null, Replica | null] = [null, null];
  private readonly births = [0, 0];
  private readonly ids = new CountingIds();
  private readonly netRng: Seeded;
  private readonly sentRules: SentRules;
  private healed = false;

  constructor(setup: WorldSetup) {
    this.rng = new Seeded(setup.seed);
    this.netRng = this.rng.fork('network');
    this.repository = setup.repository;
    this.settings = setup.settings;
    this.notifies = setup.notifies ?? false;
    this.standby = setup.standby ?? false;
    this.pace = setup.pace ?? null;
    let source = (): number => START_MS; // a fixed time until the scheduler exists, then the scheduler's time
    this.sandbox = makeSandbox({
      seed: setup.seed,
      clock: { source: () => source(), manual: true },
      transport: (url, headers, body, timeoutMs) => this.deliver(url, headers, body, timeoutMs),
      paymentWebhookUrl: 'http://daemon/mor_payments',
      eventWebhookUrl: 'http://daemon/mor_events',
    });
    const { kernel } = this.sandbox;
    this.scheduler = new Scheduler({
      startMs: START_MS,
      rng: setup.shuffled ? this.rng.fork('schedule') : null,
      keepTrace: setup.keepTrace,
      keepPoints: setup.long !== true,
      storeDue: () => this.storeDue(),
      peers: { nextDue: () => kernel.clock.nextDue(), runDue: () => kernel.clock.runDue() },
      onCrash: (owner) => this.crashed(owner),
      onFailover: (steps) => this.onFailover(steps),
    });
    source = () => this.scheduler.now;
    const isIdleAgain = (click: string): boolean => this.planted.restsAgain.has(click);
    this.sentRules = new SentRules(this.sandbox.mor, this.scheduler.broken, () => this.now, isIdleAgain);
    this.network = {
      scheduler: this.scheduler,
      kernel,
      isDown: (side, path) => this.down.has(side) || this.unanswered.has(path),
      onSent: (sent) => this.hearSent(sent),
    };
    const { stripe, secrets } = this.sandbox;
    stripe.state.addEndpoint('http://daemon/stripe', secrets.stripeWebhookSecret, SUBSCRIBED);
    this.bear(0);
    this.bear(1);
  }

  get now(): number {
    return this.scheduler.now;
  }

  /** Returns a name that is unique in this world. */
  name(prefix: string): string {
    return `${prefix}_${++this.names}`;
  }

  at(minutes: number): number {
    return START_MS + Math.round(minutes * 60_000);
  }

  replica(at: number): Replica | null {
    return this.lives[at] ?? null;
  }

  /** Picks a running replica, as a load balancer does, even a paused one without answers. Null: none runs. */
  anyReplica(): Replica | null {
    const alive = this.lives.filter((r) => r !== null);
    return alive.length === 0 ? null : this.netRng.pick(alive);
  }

  sleep(ms: number): Promise<void> {
    return this.scheduler.sleep(this.outside, ms, undefined, false);
  }

  /** Ends the faults: every replica runs, Stripe and the MoR are reachable, all clocks are right. */
  heal(): void {
    this.healed = true;
    this.scheduler.faults = null;
    this.down.clear();
    for (const at of [0, 1]) {
      const life = this.lives[at] ?? null;
      if (life === null) this.bear(at);
      else {
        life.owner.pausedUntil = 0;
        life.clock.offsetMs = 0;
      }
    }
    this.scheduler.tell('all is healed');
  }

  /** Runs `act` on a running replica. If the replica dies or throws, tries again. Null: twelve tries failed. */
  async ask<T>(what: string, act: (replica: Replica) => Promise<T>): Promise<T | null> {
    for (let tries = 0; tries < 12; tries++) {
      const replica = this.anyReplica();
      if (replica !== null) {
        const died = new Promise<null>((resolve) => replica.onGone(() => resolve(null)));
        try {
          const reply = await Promise.race([act(replica).then((value) => ({ value })), died]);
          if (reply !== null) return reply.value;
        } catch (error) {
          this.scheduler.tell(`${what} failed: ${error instanceof Error ? error.name : 'unknown'}`);
        }
      }
      await this.sleep(Math.min(600_000, 5_000 * 2 ** tries));
    }
    return null;
  }

  /** Kills every replica. Each starts again soon after. */
  stopAll(): void {
    for (const life of [...this.lives]) if (life !== null) this.scheduler.kill(life.owner);
  }

  /** Ends all replicas and their waiting work. */
  end(): void {
    for (const life of this.lives) life?.bury();
  }

  /** Delivers an event to its endpoint, as its sender does. Returns the status; null: no answer came. */
  async deliver(url: string, headers: Record<string, string>, body: Buffer, timeoutMs: number): Promise<number | null> {
    const source = url.slice('http://daemon/'.length);
    const { id, type } = JSON.parse(body.toString('utf8')) as { id: string; type: string };
    await this.gate?.(body);
    if (this.loses(type, body)) {
      this.lost.push({ source, type, eventId: id });
      this.scheduler.tell(`${type} ${id} is lost on its way`);
      return 200;
    }
    if (this.refuses(source)) return null;
    let fault: FaultKind | null = null;
    await this.scheduler.step(this.outside, `delivers ${type} ${id}`, deliveryFaults, (f) => {
      fault = f;
      return Promise.resolve(source);
    });
    const acted = fault as FaultKind | null;
    if (acted === 'delivery_late') {
      await this.sleep(this.netRng.int(1, 250) * 1_000); // the signed timestamp stays within the tolerance
    }
    if (acted === 'delivery_lost') return null;
    const sent = this.send(source, id, headers, body, timeoutMs);
    if (acted === 'delivery_twice') void this.send(source, id, headers, body, timeoutMs);
    const status = await sent;
    return acted === 'delivery_answer_lost' ? null : status;
  }

  /** A stranger sends a request to a webhook endpoint. `wanted` lists the allowed statuses. */
  async knock({ source, headers, body }: Omit<Copied, 'at'>, wanted: readonly number[]): Promise<void> {
    const replica = this.anyReplica();
    if (replica === null) return;
    const status = await replica.receive(ENDPOINTS[source] ?? '/', headers, body);
    if (status === null || wanted.includes(status)) return;
    this.scheduler.broken.push(`G5: a delivery that nobody sent was answered ${status}`);
  }

  private async send(
    source: string,
    eventId: string,
    headers: Record<string, string>,
    body: Buffer,
    timeoutMs: number,
  ): Promise<number | null> {
    const replica = this.anyReplica();
    if (replica === null) return null;
    this.copied.push({ source, headers, body, at: this.now });
    const at = this.now;
    this.onSent({ source, headers, body, at });
    if (this.copied.length > COPIES_KEPT) this.copied.shift();
    const answered = replica.receive(ENDPOINTS[source] ?? '/', headers, body).then((status) => {
      if (status === 200)
        this.acknowledged.push({ source, eventId, sha256: createHash('sha256').update(body).digest('hex'), at });
      // An authentic delivery may get only 200 or 503: after a 4xx the MoR never sends it again.
      if (status !== null && status !== 200 && status !== 503) {
        this.scheduler.broken.push(`V9: an authentic delivery of ${eventId} was answered ${status}`);
      }
      return status;
    });
    const twin = this.twinOf({ source, headers, body });
    if (twin !== null)
      void replica.receive(ENDPOINTS[source] ?? '/', twin.headers, twin.body).then((status) => {
        if (status === 200) this.planted.twins.add(eventId);
        else if (status !== null && status !== 503)
          this.scheduler.broken.push(`V9: other bytes under ${eventId} were answered ${status}`);
      });
    return Promise.race([answered, this.sleep(timeoutMs).then(() => null)]);
  }

  /**
   * Returns when the next work is due. Also checks the leases: if a lease were too long, the other replicas would wait
   * too long after a crash.
   */
  private async storeDue(): Promise<number | null> {
    const { dueAt, heldUntil } = await this.repository.due();
    const heldMs = (heldUntil ?? 0) - this.now;
    if (heldMs > LONGEST_LEASE_MS) this.scheduler.broken.push(`V16: a lane is held for ${heldMs / 1_000} s`);
    return dueAt;
  }

  private hearSent(sent: Sent): void {
    if (sent.side === 'stripe' && this.pace !== null) this.askedStripeAt.push(this.now);
    this.sentRules.check(sent);
    if (sent.done && sent.key !== null && sent.method !== 'GET') this.onEffect(sent.path);
  }

  private bear(at: number): void {
    this.births[at] = (this.births[at] ?? 0) + 1;
    const name = `${at === 0 ? 'A' : 'B'}${this.births[at] ?? 0}`;
    const owner: Owner = { name, mortal: true, alive: true, pausedUntil: 0 };
    this.lives[at] = new Replica(owner, {
      scheduler: this.scheduler,
      network: this.network,
      sandbox: this.sandbox,
      db: this.repository.db,
      pace: this.pace,
      standby: this.standby,
      settings: this.settings,
      hear: this.notifies ? (delivery) => void this.heard.push(delivery) : null,
      ids: this.ids,
      rng: this.rng.fork(`jitter ${name}`),
      onVerified: (report) => this.onVerified(report),
      onError: (what, error) => {
        const text = `${what}: ${error instanceof Error ? `${error.name} ${error.message}` : 'unknown'}`;
        this.scheduler.tell(text);
      },
    });
    this.scheduler.tell(`${name} starts`);
  }

  private crashed(owner: Owner): void {
    const at = this.lives.findIndex((r) => r?.owner === owner);
    const life = this.lives[at];
    if (life === undefined || life === null) return;
    this.lives[at as 0 | 1] = null;
    life.bury();
    const wait = this.healed ? 0 : this.netRng.int(1, RESTART_AT_MOST_SEC) * 1_000;
    this.scheduler.plan(this.now + wait, `replica ${at} is started again`, () => {
      if ((this.lives[at] ?? null) === null) this.bear(at);
    });
  }
}

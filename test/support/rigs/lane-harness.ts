// Runs the real lane flow against the fakes until nothing is due, with the test's own clock. Here the lanes are in
// memory; `lane-on-postgres.ts` has them on PostgreSQL and is the only one to load TypeORM.
import { type ChargeHolder, type Ctx, emptyLane } from '../../../src/engine/context.js';
import { type CallRow } from '../../../src/shared/domain/call-row.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { HOLDING } from '../../../src/shared/domain/payment-row.js';
import { type Delivery } from '../../../src/shared/domain/ports/inbox.js';
import { collectedCharges } from '../../../src/core/books/rules/collect.js';
import {
  type Claim,
  LaneFenced,
  LaneRepository,
  type LaneWork,
  NotUnique,
} from '../../../src/engine/lane.repository.js';
import { type DecisionSettings } from '../../../src/shared/domain/settings.js';
import { DecisionContext } from '../../../src/engine/decision-context.js';
import { type Books, Decisions } from '../../../src/core/lanes/decisions.js';
import { eventParser } from '../../../src/core/events/event-parser.js';
import { type RouteEventsService } from '../../../src/core/mor-objects/route-events.service.js';
import { type OwnAccount } from '../../../src/engine/own-account.js';
import { type LaneWatch } from '../../../src/engine/lane-trace.js';
import { WorkLaneService } from '../../../src/engine/work-lane.service.js';
import { type MorChannels } from '../../../src/shared/domain/ports/mor-channels.js';
import { anInvoice, SETTINGS } from '../builders/events.js';
import { type InvoiceFacts } from '../../../src/shared/domain/ports/billing-platform.js';
import { CountingIds, ManualClock, SeededRng } from '../fakes/clock.js';
import { FakePaymentGateway, FakeRelay } from '../fakes/fake-mor.js';
import { FakeBillingPlatform } from '../fakes/fake-platform.js';
import { Crash, MortalRepository } from '../fakes/mortal-repository.js';
import { NoChannels } from '../fakes/no-channels.js';
import { type Commanded, settle } from './decide.js';

const LEASE_MS = 25_000;

type Waiting = { -readonly [K in keyof WaitingOf]: WaitingOf[K] } & { status: string; nextTryAt: number };
type WaitingOf = Parameters<LaneWork<unknown>['decide']>[0]['events'][number];
type MemoryLane = { state: LaneState; dueAt: number | null; leaseUntil: number; fence: bigint };

/** Lanes in memory, with the database's unique constraints. The state keeps all entries and the whole journal. */
export class MemoryLaneRepository extends LaneRepository {
  readonly lanes = new Map<string, MemoryLane>();
  /** Charges that payments of other invoices collected. */
  readonly bookedElsewhere = new Map<string, ChargeHolder>();
  readonly events: Waiting[] = [];
  #fence = 0n;

  constructor(private readonly clock: ManualClock) {
    super();
  }

  add(delivery: Delivery): void {
    if (this.events.some((e) => e.source === delivery.source && e.eventId === delivery.eventId)) return;
    const id = BigInt(this.events.length + 1);
    const event = eventParser.delivered(delivery.source, delivery.body);
    this.events.push({ ...delivery, id, event, attempts: 0, nextTryAt: this.clock.now().getTime() });
  }

  lane(key: string): MemoryLane {
    const known = this.lanes.get(key);
    if (known !== undefined) return known;
    const made = { state: emptyLane(key), dueAt: null, leaseUntil: 0, fence: 0n };
    this.lanes.set(key, made);
    return made;
  }

  override async time(): Promise<Date> {
    return this.clock.now();
  }

  override async claim(_owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]> {
    const now = this.clock.now().getTime();
    const waits = (waiting: Waiting): boolean => waiting.status === 'received' && waiting.nextTryAt <= now;
    for (const e of this.events) if (waits(e)) this.lane(e.lane);
    const due = [...this.lanes].filter(
      ([key, l]) =>
        l.leaseUntil <= now &&
        ((l.dueAt !== null && l.dueAt <= now) || this.events.some((e) => e.lane === key && waits(e))),
    );
    return due.slice(0, limit).map(([lane, l]) => {
      l.leaseUntil = now + leaseMs;
      l.fence = ++this.#fence;
      return { lane, fence: l.fence, events: this.events.filter((e) => e.lane === lane && waits(e)) };
    });
  }

  override async renew(): Promise<never> {
    throw new Error('nobody works here longer than a lease');
  }

  override async transact<T>(work: LaneWork<T>): Promise<T> {
    const now = this.clock.now().getTime();
    const lane = this.lane(work.lane);
    if (work.fence !== null && work.fence !== lane.fence) throw new LaneFenced('fenced');
    const { entries, journal, attempts } = lane.state;
    const events = this.events.filter((e) => e.lane === work.lane && e.status === 'received' && e.nextTryAt <= now);
    const d = work.decide({
      state: { ...lane.state, entries: [], journal: [], attempts: [] },
      events: work.fence === null ? [] : events,
      remembered: { known: false },
      now: this.clock.now(),
    });
    const next = {
      ...d.state,
      calls: d.state.calls.map(asKept),
      entries: [...entries, ...d.state.entries],
      journal: [...journal, ...d.state.journal],
      attempts: [...attempts, ...d.state.attempts.filter((a) => !attempts.some((b) => b.eventId === a.eventId))],
    };
    checkUnique(next);
    const held = collectedCharges(next.entries).find((charge) => this.bookedElsewhere.has(charge));
    if (held !== undefined) throw new NotUnique(`ledger_entry: ${held}`, null);
    const named = next.payments.find((p) => this.namedElsewhere.has(p.paymentId ?? ''));
    if (named !== undefined) throw new NotUnique(`payment: ${named.paymentId ?? ''}`, null);
    lane.state = next;
    for (const v of d.outcomes) {
      const e = this.events.find((x) => x.id === v.id);
      if (e !== undefined) e.status = v.status;
    }
    const due = d.dueAt?.getTime() ?? null;
    // Undecided events wait until the lane is due again.
    if (d.isIdle === true && due !== null)
      for (const e of events) if (!d.outcomes.some((v) => v.id === e.id)) e.nextTryAt = due;
    if (work.fence === null) lane.dueAt = Math.min(lane.dueAt ?? Infinity, due ?? now);
    else {
      lane.dueAt = due;
      lane.leaseUntil = (d as { readonly isIdle?: boolean }).isIdle === true ? 0 : now + LEASE_MS;
    }
    return d.value;
  }

  override async release(lane: string, fence: bigint): Promise<void> {
    const l = this.lane(lane);
    if (l.fence === fence) l.leaseUntil = 0;
  }

  override async postpone(): Promise<never> {
    throw new Error('a decision failed');
  }

  override async tell(): Promise<never> {
    throw new Error('a lane could be neither read nor written');
  }

  /** Customers who pay by bank debit. */
  readonly debtors = new Set<string>();

  /** Customers of the MoR that made no signup. */
  readonly leftOut = new Set<string>();

  /** The MoR's ids of payments of other invoices → the invoices. */
  readonly namedElsewhere = new Map<string, string>();

  readonly books: Books = {
    payments: {
      namedElsewhere: async (ids) => new Map([...this.namedElsewhere].filter(([id]) => ids.includes(id))),
      collectedElsewhere: async (charges) =>
        new Map([...this.bookedElsewhere].filter(([charge]) => charges.includes(charge))),
    },
    refunds: { namedElsewhere: async () => [] },
    signups: {
      paysByDebit: async (customerId) => this.debtors.has(customerId),
      leavesOut: async ({ customerId }) => this.leftOut.has(customerId),
    },
  };

  nextDue(): number | null {
    const at = [
      ...[...this.lanes.values()].map((l) => (l.dueAt === null ? null : Math.max(l.dueAt, l.leaseUntil))),
      ...this.events
        .filter((e) => e.status === 'received')
        .map((e) => Math.max(e.nextTryAt, this.lane(e.lane).leaseUntil)),
    ].filter((x) => x !== null);
    return at.length === 0 ? null : Math.min(...at);
  }
}

/**
 * A log does not keep the bytes of a finished call for good (src/engine/lane-log.ts). This store drops them at once.
 */
function asKept(call: CallRow): CallRow {
  return call.status === 'done' ? { ...call, wire: { ...call.wire, body: null } } : call;
}

/** Refuses what the unique indexes of the schema refuse. */
function checkUnique(state: LaneState): void {
  const ids = (of: (refund: LaneState['refunds'][number]) => string | null): string[] =>
    state.refunds.filter((r) => of(r) !== null).map((r) => `${of(r)} ${r.paymentRowId}`);
  const holds = (payment: LaneState['payments'][number]): boolean =>
    HOLDING.has(payment.mark) && !payment.waived.includes('amount_mismatch');
  const indexes: Record<string, readonly string[]> = {
    ledger_entry: state.entries.map((e) => `${e.reason} ${e.subject}`),
    outbox_message: state.calls.map((m) => `${m.kind} ${m.subject} ${m.generation}`),
    outbox_message_key: state.calls.map((m) => m.key),
    review_open_once: state.reviews.filter((r) => r.status === 'open').map((r) => `${r.kind} ${r.subject}`),
    payment_id: state.payments.flatMap((p) => p.paymentId ?? []),
    payment_holder: state.payments.filter(holds).map((p) => p.invoiceId),
    payment_record_id: state.payments.flatMap((p) => p.paymentRecordId ?? []),
    refund_mor_id: ids((r) => r.morRefundId),
    refund_processor_id: ids((r) => r.processorRefundId),
  };
  for (const [name, keys] of Object.entries(indexes))
    if (new Set(keys).size !== keys.length) throw new NotUnique(`${name}: ${keys.join(' ')}`, null);
}

export type LaneOptions = {
  readonly settings?: Partial<DecisionSettings>;
  readonly clock?: ManualClock;
  readonly seed?: number;
  /** Left out: a request for a link or a proforma invoice is a bug. */
  readonly channels?: MorChannels;
  /** Left out: an event with an account belongs to another account. */
  readonly account?: OwnAccount;
  readonly watch?: LaneWatch;
};
/** Where the lanes are kept. */
export type LaneBackend = {
  readonly repository: LaneRepository;
  readonly books: Books;
  /** Routes events without an invoice. Left out: there are none. */
  readonly router?: Pick<RouteEventsService, 'run'>;
  readonly deliver: (batch: readonly Delivery[]) => Promise<void>;
  readonly nextDue: () => Promise<number | null>;
  readonly state: (lane: string) => Promise<LaneState>;
};

export class LaneHarness {
  readonly platform: FakeBillingPlatform;
  readonly gateway: FakePaymentGateway;
  readonly relay = new FakeRelay();
  readonly context: DecisionContext;
  readonly repository: MortalRepository;
  /** How many crashes the harness survived. */
  crashes = 0;
  readonly #flow: WorkLaneService;

  constructor(
    readonly clock: ManualClock,
    readonly ids: CountingIds,
    readonly backend: LaneBackend,
    options: LaneOptions,
  ) {
    this.platform = new FakeBillingPlatform(clock);
    this.gateway = new FakePaymentGateway(clock);
    const settings = { ...SETTINGS, ...options.settings };
    const rng = new SeededRng(options.seed);
    const channels = options.channels ?? new NoChannels();
    const decider = new Decisions(backend.router ?? { run: async () => [] }, backend.books);
    this.context = new DecisionContext(settings, clock, rng, ids, this.platform, this.gateway, decider);
    this.repository = new MortalRepository(backend.repository);
    this.#flow = new WorkLaneService(
      this.repository,
      this.platform,
      this.gateway,
      this.relay,
      this.context,
      { expected: null },
      channels,
      options.watch ?? null,
      options.account ?? null,
    );
  }

  static inMemory(options: LaneOptions = {}): LaneHarness {
    const clock = options.clock ?? new ManualClock();
    const repository = new MemoryLaneRepository(clock);
    const backend: LaneBackend = {
      repository,
      books: repository.books,
      deliver: async (batch) => batch.forEach((d) => repository.add(d)),
      nextDue: async () => repository.nextDue(),
      state: async (lane) => repository.lane(lane).state,
    };
    return new LaneHarness(clock, new CountingIds(), backend, options);
  }

  /** A harness whose Stripe has one invoice. */
  static withInvoice(invoice: Partial<InvoiceFacts> = {}, options: LaneOptions = {}): LaneHarness {
    const h = LaneHarness.inMemory(options);
    h.platform.put(anInvoice(invoice));
    return h;
  }

  async deliver(...batch: Delivery[]): Promise<void> {
    await this.backend.deliver(batch);
  }

  /** Delivers events and does all work that is due now. */
  async take(...batch: Delivery[]): Promise<void> {
    await this.deliver(...batch);
    await this.drain();
  }

  /** Does all work that is due, without moving the clock. After a crash the lane waits until its lease ends. */
  async drain(): Promise<void> {
    for (let round = 0; round < 200; round++) {
      const claims = await this.repository.claim('worker', 10, LEASE_MS);
      if (claims.length === 0) return;
      for (const claim of claims) await this.work(claim);
    }
    throw new Error('the lane does not come to rest');
  }

  private async work(claim: Claim): Promise<void> {
    try {
      await this.#flow.run(claim, new AbortController().signal);
    } catch (e) {
      if (!(e instanceof Crash)) throw e;
      this.crashes++;
    }
  }

  /** Moves the clock from one due time to the next until nothing is due within `hours`. */
  async idle(hours = 12): Promise<void> {
    const end = this.clock.now().getTime() + hours * 3_600_000;
    for (let round = 0; round < 500; round++) {
      await this.drain();
      const next = await this.backend.nextDue();
      if (next === null || next > end) return;
      this.clock.set(new Date(next));
    }
    throw new Error('the lane does not come to rest');
  }

  /** Runs a command of the API on the lane's present state. */
  async command<T>(lane: string, act: (state: LaneState, ctx: Ctx) => Commanded<T>): Promise<Commanded<T>> {
    return this.repository.transact<Commanded<T>>({
      lane,
      fence: null,
      decide: ({ state, now }) => {
        const ctx = this.context.beside(now);
        const acted = act(state, ctx);
        if (!acted.ok) return { state, outcomes: [], dueAt: null, value: acted };
        const { state: settled, dueAt } = settle(acted.state, ctx);
        return { state: settled, outcomes: [], dueAt, value: acted };
      },
    });
  }

  state(lane: string): Promise<LaneState> {
    return this.backend.state(lane);
  }
}

/** The ledger's balance of each account, debits minus credits, without accounts at zero. */
export function balances(state: LaneState): Record<string, bigint> {
  const sums: Record<string, bigint> = {};
  for (const e of state.entries) {
    sums[e.debit] = (sums[e.debit] ?? 0n) + e.amount.minor;
    sums[e.credit] = (sums[e.credit] ?? 0n) - e.amount.minor;
  }
  return Object.fromEntries(Object.entries(sums).filter(([, n]) => n !== 0n));
}

export function openKinds(state: LaneState): string[] {
  return state.reviews
    .filter((r) => r.status === 'open')
    .map((r) => r.kind)
    .sort();
}

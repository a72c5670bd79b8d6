// Works on one claimed lane until nothing is due. In each round it records events and replies, decides, and stores the
// decision. Then it makes one request: sends a stored call, or looks something up.
import { Inject, Injectable, Optional } from '@nestjs/common';
import { isBareEventLane, isChannelLane } from '../shared/domain/events/channel-lane.js';
import { applyReply, applyCheck } from './calls.js';
import { type CallReply, type SentCall } from './call.js';
import { type Ctx, type Elsewhere, emptyLane } from './context.js';
import { type DecidedEvent } from './decider.js';
import { Lane, type Rule } from './lane.js';
import { askFor, type CarriedBy, type NextRequest, type Peers } from './lookup.js';
import { settle } from './settle.js';
import { type CallRow } from '../shared/domain/call-row.js';
import { type LaneState } from '../shared/domain/model.js';
import { BillingPlatform, type StoredBillingCall } from '../shared/domain/ports/billing-platform.js';
import { type CallOutcome } from '../shared/domain/ports/call.js';
import {
  ReplyLost,
  type Claim,
  EventFailed,
  LaneFenced,
  LaneRepository,
  LaneUnreadable,
  type LaneWork,
  NotUnique,
  type WaitingEvent,
} from './lane.repository.js';
import { StoreUnavailable } from '../shared/domain/errors.js';
import { MorChannels } from '../shared/domain/ports/mor-channels.js';
import { EventRelay, PaymentGateway } from '../shared/domain/ports/payment-gateway.js';
import { DecisionContext } from './decision-context.js';
import { LANE_WATCH, type LaneChange, LaneTrace, type LaneWatch } from './lane-trace.js';
import { accountLookup, LIVE_MODE, type LiveModeRule, pollBy, OwnAccount } from './own-account.js';
import { culpritOf, takeIn } from './apply-event.js';
import { REQUESTS_A_CLAIM } from '../shared/policy.js';

/**
 * The reply to a sent call or a lookup. `take` records the reply in the lane. `elsewhere`: facts about other invoices
 * for `take`, read after Stripe or the MoR refused the call.
 */
type Reply = { readonly apply: Rule; readonly elsewhere?: Elsewhere };

type News = Reply & {
  readonly ahead: boolean;
  /** True for the reply to a stored call. The call may have had an effect outside. */
  readonly sent: boolean;
};

type Stepped = {
  readonly request: NextRequest | null;
  readonly decided: readonly DecidedEvent[];
  /** Null: the step only asks for a read. */
  readonly change: LaneChange | null;
};

/** A decided step. `named`: the MoR's payment ids in its events. `collected`: the charges it books. */
type Taken = ReturnType<LaneWork<Stepped>['decide']> & {
  readonly named: readonly string[];
  readonly collected: readonly string[];
};

export type LaneDone = {
  readonly requests: number;
  readonly decided: readonly DecidedEvent[];
};

@Injectable()
export class WorkLaneService {
  constructor(
    private readonly repository: LaneRepository,
    private readonly platform: BillingPlatform,
    private readonly gateway: PaymentGateway,
    private readonly relay: EventRelay,
    private readonly context: DecisionContext,
    @Inject(LIVE_MODE) readonly livemode: LiveModeRule,
    private readonly channels: MorChannels,
    /** Logs each step of the work. Null: no such log. */
    @Optional() @Inject(LANE_WATCH) private readonly watch: LaneWatch | null = null,
    /**
     * Knows the id of Crossbill's own Stripe account. Null: every event that names a Stripe account counts as another
     * account's event.
     */
    @Optional() @Inject(OwnAccount) readonly account: OwnAccount | null = null,
  ) {}

  private get peers(): Peers {
    const { platform, gateway, channels, account } = this;
    const { signups, customers } = this.context.decider;
    const relay = (body: string): Promise<CallOutcome<object>> => this.sendToRelay(body);
    return { platform, gateway, channels, account, signups, customers, relay };
  }

  /**
   * Works on the lane until nothing is due. Throws `LaneFenced` after another worker's claim, and the errors of the
   * database. Nothing is lost in either case.
   */
  async run(claim: Claim, signal: AbortSignal): Promise<LaneDone> {
    const trace = new LaneTrace(claim, this.watch);
    if (isChannelLane(claim.lane)) {
      const { decided } = await trace.decision(
        this.context.decider.route(claim).then((routed) => ({ decided: routed, change: null })),
      );
      return { requests: 0, decided };
    }
    const decided: DecidedEvent[] = [];
    const { freshRead } = this.context.decider.subjects;
    // A read before the first step saves one round.
    const isWanted = claim.events.some((e) => freshRead.wantedBy.has(e.type)) && !isBareEventLane(claim.lane);
    let news: News | null = isWanted
      ? { ...(await this.carryOut(freshRead.request(claim.lane), trace)), ahead: true, sent: false }
      : null;
    let requests = news === null ? 0 : 1;
    for (;;) {
      const step = await trace.decision(this.takeIn(claim, news));
      decided.push(...step.decided);
      if (step.request === null) return { requests, decided }; // the last write has already ended the claim
      if (requests >= REQUESTS_A_CLAIM || signal.aborted) break;
      news = { ...(await this.carryOut(step.request, trace)), ahead: false, sent: step.request.do === 'send' };
      requests++;
    }
    await this.repository.release(claim.lane, claim.fence);
    return { requests, decided };
  }

  /**
   * Opens a review item about a lane whose work fails again and again, if no single event is the cause. Crossbill works
   * on the lane again after `waitMs`.
   */
  async tellStuck({ lane, fence }: Claim, why: string, waitMs: number): Promise<void> {
    const withItem = (state: LaneState, now: Date): LaneState => {
      const changed = new Lane(state, this.context.at(now));
      const fact = { code: 'lane-stuck', lane, why: why.slice(0, 500) } as const;
      changed.openReview({ kind: 'effect_failed', subject: `lane:${lane}`, fact });
      return changed.toState();
    };
    try {
      await this.repository.transact({
        lane,
        fence,
        decide: ({ state, now }) => {
          const dueAt = new Date(now.getTime() + waitMs);
          return { state: withItem(state, now), outcomes: [], dueAt, isIdle: true, value: null };
        },
      });
    } catch (e) {
      if (e instanceof LaneFenced || e instanceof StoreUnavailable) throw e;
      // The log of the lane is unreadable or unwritable, so the item goes outside the log, without an invoice.
      for (const item of withItem(emptyLane(lane), await this.repository.time()).reviews)
        await this.repository.tell(item);
    }
  }

  /** Throws `ReplyLost` if the database did not store the reply to a call. */
  private async takeIn(claim: Claim, news: News | null): ReturnType<WorkLaneService['step']> {
    try {
      return await this.step(claim, news, null);
    } catch (e) {
      throw news?.sent === true && e instanceof StoreUnavailable ? new ReplyLost(e.message, { cause: e }) : e;
    }
  }

  /**
   * Takes the last reply and the waiting events into the lane and stores the decision, all in one transaction. Throws
   * `EventFailed` if an event is behind the failure.
   */
  private async step(claim: Claim, news: News | null, elsewhere: Elsewhere | null): Promise<Stepped> {
    const seen: string[] = [];
    let charges: readonly string[] = [];
    let suspect: bigint | null = null;
    try {
      return await this.repository.transact({
        lane: claim.lane,
        fence: claim.fence,
        decide: ({ state, events, now }) => {
          if (news === null && mustReadFirst(claim, state, events)) {
            return {
              state,
              outcomes: [],
              dueAt: now,
              value: {
                request: this.context.decider.subjects.freshRead.request(claim.lane),
                decided: [],
                change: null,
              },
            };
          }
          const ctx = { ...this.context.at(now), ...news?.elsewhere, ...elsewhere };
          seen.push(...state.objects.flatMap((o) => (o.detail.observed ?? []).flatMap((x) => x.paymentId ?? [])));
          const apply = (some: readonly WaitingEvent[]): Taken => this.apply(state, some, news, ctx);
          try {
            const { named, collected, ...taken } = apply(events);
            seen.push(...named);
            charges = collected;
            suspect = events[0]?.id ?? null; // if the database refuses the step, its oldest event goes alone the next time
            return taken;
          } catch (e) {
            suspect = culpritOf(events, apply)?.id ?? null;
            throw e;
          }
        },
      });
    } catch (e) {
      // Another invoice already has a payment id or a charge of this lane. Find that invoice, and run the step again.
      if (e instanceof NotUnique && elsewhere === null) {
        const found = await this.context.decider.heldElsewhere(claim.lane, { payments: seen, charges });
        if (found !== null) return this.step(claim, news, found);
      }
      throw suspect === null || isOfStore(e) ? e : new EventFailed(suspect, e);
    }
  }

  /** Takes these events and the last reply into the lane, and settles it. Pure. */
  private apply(state: LaneState, events: readonly WaitingEvent[], news: News | null, ctx: Ctx): Taken {
    const { subjects } = this.context.decider;
    const decided: DecidedEvent[] = [];
    const named: string[] = [];
    // `news.ahead`: `run` read the invoice before this step. The lane takes such an early read only after the events
    // below.
    const lane = new Lane(state, ctx);
    if (news?.ahead === false) news.apply(lane);
    let held: 'ask' | 'wait' | null = null;
    for (const e of events) {
      const taken = takeIn(subjects, lane, e, this);
      if (typeof taken === 'string') {
        held = taken; // later events wait too: a lane takes its events in order
        break;
      }
      named.push(...taken.named);
      decided.push({ ...taken.outcome, id: e.id, type: e.type, source: e.source, eventId: e.eventId });
    }
    if (news?.ahead === true) news.apply(lane);
    const settled = settle(subjects, lane);
    const collected = subjects.chargesIn(settled.state.entries);
    const request: NextRequest | null = held === 'ask' ? askFor(accountLookup, null) : settled.request;
    const dueAt = held === null ? settled.dueAt : pollBy(settled.dueAt, ctx.now);
    const value = { request, decided, change: { before: state, after: settled.state, dueAt } };
    return { state: settled.state, outcomes: decided, dueAt, isIdle: request === null, value, named, collected };
  }

  private async carryOut(request: NextRequest, trace: LaneTrace): Promise<Reply> {
    const { subjects } = this.context.decider;
    const call: CarriedBy = (name, calling) => trace.call(name, null, calling);
    switch (request.do) {
      case 'send': {
        const { id, kind } = request.call;
        const outcome = await trace.call(kind, id, this.send(request.call));
        const apply: Rule = (lane) => applyReply(subjects.calls, lane, id, outcome);
        if (outcome.ok || outcome.kind !== 'refused') return { apply };
        return { apply, elsewhere: await this.context.decider.refusedBecause(request.call) };
      }
      case 'probe': {
        const { id } = request.call;
        const outcome = await trace.call(request.do, id, this.platform.check(billingCall(request.call).asked));
        return { apply: (lane) => applyCheck(subjects.calls, lane, id, outcome) };
      }
      case 'look-up':
        return { apply: await request.ask(this.peers, call) };
    }
  }

  private async send(row: CallRow): Promise<CallOutcome<CallReply>> {
    const rule: SentCall = this.context.decider.subjects.calls[row.kind];
    if (rule.send === undefined) return this.platform.send(billingCall(row));
    const sent = await rule.send(this.peers, row);
    // the rule's type pairs the reply with the kind of its call
    return sent.ok ? { ...sent, value: { kind: row.kind, ...sent.value } as CallReply } : sent;
  }

  private async sendToRelay(body: string): Promise<CallOutcome<object>> {
    const sent = await this.relay.send(Buffer.from(body, 'utf8'), await this.repository.time());
    return sent.ok ? { ...sent, value: {} } : sent;
  }
}

/**
 * True if the MoR's event came before Stripe's facts about the invoice, and no read of them has failed. Crossbill then
 * reads the invoice first: news for the backend name the customer and the subscription.
 */
function mustReadFirst({ lane }: Claim, { invoice }: LaneState, events: readonly WaitingEvent[]): boolean {
  const isKnown = invoice !== null && (invoice.platformStatus !== 'unknown' || invoice.readDueAt !== null);
  const sources = new Set(events.map(({ source }) => source));
  const isMors = sources.has('mor_payments') || sources.has('mor_events');
  // an event of Stripe in the same step brings the facts
  return isMors && !sources.has('stripe') && !isKnown && !isBareEventLane(lane);
}

/** True if the store, and no decision, is the cause: the database is away, or the lane is another worker's or unreadable. */
function isOfStore(error: unknown): boolean {
  return error instanceof StoreUnavailable || error instanceof LaneFenced || error instanceof LaneUnreadable;
}

function billingCall({ id, asked, key, wire }: CallRow): StoredBillingCall {
  if (asked === null) throw new Error(`call ${id} does not say what it asks Stripe for`);
  return { asked, key, wire };
}

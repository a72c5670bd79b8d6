// Repairs differences after verify: puts missing events into the inbox, and decides on invoices again. The lane workers
// decide the events and send the calls.
import { parseStripeEvent, stripeInvoiceTypes } from '../../shared/domain/events/stripe-event.js';
import { askAgain, isHeardSince, applyInvoiceRead } from '../../core/books/rules/invoice-facts.js';
import { Lane } from '../../engine/lane.js';
import { settle } from '../../engine/settle.js';
import { decideMarksAgain } from '../../core/payments/rules/others-mark.js';
import {
  announcedAt,
  isLiveProforma,
  isOpenLink,
  type MorObjectRow,
  TRANSFERRED,
} from '../../shared/domain/mor-object.js';
import { type BillingEventFacts } from '../../shared/domain/ports/billing-reader.js';
import { type Inbox } from '../../shared/domain/ports/inbox.js';
import { type LaneRepository } from '../../engine/lane.repository.js';
import { type Difference } from '../../shared/domain/difference.js';
import { isOnItsWay, keptSince } from './verify-comparison.js';
import { type VerifyParts } from './verify-session.js';

/** `started`: the differences under repair. `failed`: the differences without a repair, with the reason. */
export type Repaired = {
  readonly started: readonly Difference[];
  readonly failed: readonly { readonly difference: Difference; readonly why: string }[];
  /** How many missing events the repair stored beyond the events in the report. */
  readonly beyond: number;
  /** The lanes with work from this repair. If there are very many, only some of them. */
  readonly lanes: readonly string[];
};

const MOST_LANES = 10_000;

/** Missing events without a body in the report: the repair lists them at Stripe again. */
type ToList = {
  readonly since: Date;
  /** The differences, by event id. */
  readonly wanted: Map<string, Difference>;
  /** True: the report only counts some missing events, without ids. So the repair stores each one it finds. */
  readonly others: boolean;
};

type Work = { started: Difference[]; failed: { difference: Difference; why: string }[]; beyond: number };

export class VerifyRepair {
  constructor(
    private readonly parts: VerifyParts,
    private readonly inbox: Inbox,
    private readonly lanes: LaneRepository,
  ) {}

  async repair(
    wanted: readonly Difference[],
    bodies: ReadonlyMap<string, BillingEventFacts>,
    list: Omit<ToList, 'wanted'>,
  ): Promise<Repaired> {
    const work: Work = { started: [], failed: [], beyond: 0 };
    const lanes = new Set<string>();
    const toList: ToList = { ...list, wanted: new Map() };
    for (const d of wanted) {
      if (d.repair === 'take-in-event' && d.eventId !== null) {
        const event = bodies.get(d.eventId);
        if (event === undefined) toList.wanted.set(d.eventId, d);
        else {
          lanes.add(await this.takeIn(event));
          work.started.push(d);
        }
      } else if (d.repair === 'look-again' && d.invoiceId !== null) {
        const why = await this.readAgain(d.invoiceId);
        lanes.add(d.invoiceId);
        if (why === null) work.started.push(d);
        else work.failed.push({ difference: d, why });
      } else work.failed.push({ difference: d, why: 'Crossbill has no repair for it' });
    }
    if (toList.wanted.size > 0 || list.others) await this.takeInListed(toList, work, lanes);
    return { ...work, lanes: [...lanes] };
  }

  /** Stores the event as if Stripe had delivered it now. Returns its lane. */
  private async takeIn({ eventId, body }: BillingEventFacts): Promise<string> {
    const parsed = parseStripeEvent(body);
    const { type, lane } = parsed;
    const known = { source: 'stripe', eventId, type, lane, body, receivedAt: this.parts.context.clock.now() } as const;
    const unusable = parsed.usability === 'unusable' ? 'parked' : 'ignored';
    if (parsed.usability === 'usable') await this.inbox.store([{ ...known, status: 'received', reason: null }]);
    else await this.inbox.store([{ ...known, status: unusable, reason: parsed.reason }]);
    return lane;
  }

  /** Lists Stripe's events again and stores the missing events. Keeps only one page in memory. */
  private async takeInListed({ since, wanted, others }: ToList, work: Work, lanes: Set<string>): Promise<void> {
    const { books, reader, context } = this.parts;
    const now = context.clock.now();
    const createdAfter = keptSince(since, now);
    let why = 'Stripe no longer lists the event';
    for (let startingAfter: string | undefined; others || wanted.size > 0;) {
      const more = startingAfter === undefined ? {} : { startingAfter };
      const page = await reader.listEvents({ types: stripeInvoiceTypes, createdAfter, ...more });
      if (!page.ok) {
        why = `could not list Stripe's events: ${page.message}`;
        break;
      }
      const unknown = await books.records.unknownEvents(page.value.items.map((e) => e.eventId));
      for (const e of page.value.items) {
        const d = wanted.get(e.eventId);
        const isOther = others && d === undefined && !isOnItsWay(e, now);
        if (unknown.has(e.eventId) && (d !== undefined || isOther)) {
          const lane = await this.takeIn(e);
          if (lanes.size < MOST_LANES) lanes.add(lane);
          if (d === undefined) work.beyond += 1;
        }
        if (d !== undefined) work.started.push(d);
        wanted.delete(e.eventId);
      }
      if (page.value.next === null) break;
      startingAfter = page.value.next;
    }
    for (const difference of wanted.values()) work.failed.push({ difference, why });
  }

  /**
   * Reads the invoice, decides on its lane, and makes waiting calls due. Returns null, or the reason if the repair
   * failed.
   */
  private async readAgain(invoiceId: string): Promise<string | null> {
    const { platform, context } = this.parts;
    const askedAt = await this.lanes.time();
    const outcome = await platform.readInvoice(invoiceId);
    if (!outcome.ok) return `could not read the invoice from Stripe: ${outcome.message}`;
    await this.lanes.transact({
      lane: invoiceId,
      fence: null,
      decide: ({ state, now }) => {
        const ctx = context.beside(now);
        // If a worker or an event brought newer facts after this read, the read is old: the lane's worker reads the
        // invoice again.
        const looked = new Lane(state, ctx);
        if (isHeardSince(state.invoice, askedAt)) askAgain(looked);
        else applyInvoiceRead(looked, outcome);
        looked.log('decision', 'verify found a difference: checked again');
        decideMarksAgain(looked);
        // The first `settle` withdraws the calls that are no longer wanted. The repair makes only the remaining calls
        // due now.
        const hurried = new Lane(settle(context.decider.subjects, looked).state, ctx);
        // A call already due keeps its `nextTryAt`. A process may have sent the call at this time and crashed, and the
        // age of the call's key counts from the first try.
        for (const m of hurried.calls) if (m.status === 'pending' && m.nextTryAt > now) m.nextTryAt = now;
        for (const o of hurried.objects) if (isReadable(o)) Object.assign(o, { readDueAt: now, readAttempts: 0 });
        const { state: settled, dueAt } = settle(context.decider.subjects, hurried);
        return { state: settled, outcomes: [], dueAt, value: null };
      },
    });
    return null;
  }
}

/** True if the object's status at the MoR may still change, and the MoR lets Crossbill read the object. */
function isReadable(object: MorObjectRow): boolean {
  if (object.morId === null) return false;
  if (object.kind === 'payment_link')
    return isOpenLink(object) || object.status === 'EXPIRED' || announcedAt(object) !== null;
  return isLiveProforma(object) && !TRANSFERRED.has(object.status);
}

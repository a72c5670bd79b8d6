// A refund: the MoR's word of it, and the sums of a payment's refunds.
import { type ConflictFact } from '../../domain/facts/conflict.js';
import { type LaneRows, type PaymentRow, type RefundRow, type ReviewRow } from '../../domain/model.js';
import { type Money, showMoney } from '../../domain/money.js';
import { effectName, paymentName } from '../../domain/payment-name.js';
import { paymentStatus } from '../../domain/status.js';
import { type Ctx } from '../../engine/change.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { moveMark, moveMirror, moveRefund } from '../../engine/draft-moves.js';
import { done, type PaymentEvent, type Verdict } from '../../engine/event.js';
import { type Holds, itemRule } from '../../engine/items.js';
import { PARKING, saysNothing, takePayment } from '../../engine/payment.js';
import { refundPaid } from '../../ledger/rules/postings.js';

export function newRefund(
  ctx: Pick<Ctx, 'newId' | 'now'>,
  p: PaymentRow,
  amount: bigint,
  reason: string | null,
  origin: RefundRow['origin'],
): RefundRow {
  return {
    id: ctx.newId('ref'),
    paymentRowId: p.id,
    invoiceId: p.invoiceId,
    morRefundId: null,
    processorRefundId: null,
    amount,
    currency: p.currency,
    status: 'requested',
    morStatus: null,
    reason,
    origin,
    askedOf: origin === 'api' ? p.paymentId : null,
    askedAs: null,
    counted: false,
    totalAfter: null,
    surplus: 0n,
    mirror: 'none',
    creditNoteId: null,
    failure: null,
    createdAt: ctx.now,
    succeededAt: null,
  };
}

/** A refund of ours without an answer and an id. */
export function isNameless(r: RefundRow, amount: bigint): boolean {
  const waits = r.status === 'requested' || r.status === 'unknown';
  return r.origin === 'api' && waits && r.morRefundId === null && r.processorRefundId === null && r.amount === amount;
}

/** `payment.refunded`: money was given back. */
export function takeRefunded(lane: Lane, e: PaymentEvent): Verdict {
  const other = findMisnamed(lane, e);
  if (other !== undefined) return tellMisnamed(lane, e, other);
  const p = takePayment(lane, e);
  takeTotals(p, e);
  const known = findRefund(lane, p, e);
  if (known !== undefined && (known.status === 'succeeded' || !isSameMoney(known, e) || isNamedOtherwise(known, e)))
    return takeAgain(lane, p, known, e);
  const made = { ...newRefund(lane.ctx, p, e.amount, e.reason, 'event'), currency: e.currency };
  const r = known ?? lane.add('refunds', made);
  const told = { failure: null, reason: r.reason ?? e.reason, totalAfter: e.amountRefundedTotal, succeededAt: e.at };
  moveRefund(r, 'succeeded', told);
  fillIds(r, e);
  const what = showMoney({ minor: e.amount, currency: e.currency });
  return done(`${what} was refunded, refund ${r.morRefundId ?? r.processorRefundId ?? r.id}`);
}

/** The refund is known: the event adds names and a total, or contradicts the record. */
function takeAgain(lane: Lane, p: PaymentRow, r: Draft<RefundRow>, e: PaymentEvent): Verdict {
  const total = e.amountRefundedTotal;
  const other = isNamedOtherwise(r, e) ? r.morRefundId : null;
  const isSameTotal = r.totalAfter === null || total === null || r.totalAfter === total;
  fillIds(r, e);
  if (isSameMoney(r, e) && isSameTotal && other === null) {
    r.totalAfter ??= total;
    return done('this refund is already recorded');
  }
  const about = { subject: e.eventId, paymentRowId: p.id, refundId: r.id };
  lane.ask({ kind: 'conflicting_event', ...about, fact: howItDiffers(e, other) });
  return done('differs from the record: not applied');
}

/** A refund proves an earlier payment of unknown amount, even after a refused try. */
function takeTotals(p: Draft<PaymentRow>, e: PaymentEvent): void {
  // Its charge paid another invoice: nothing was taken here.
  const isLetGo = saysNothing(p);
  const isEarly = p.succeededAt === null && p.mark === 'none' && !isLetGo;
  if (isEarly) Object.assign(p, { amount: null, failureMessage: null, declineCode: null });
  const total = e.amountRefundedTotal;
  if (total !== null && total > (p.refundedTotal ?? -1n)) p.refundedTotal = total;
  // `refunded` is the end, whichever of two refunds arrives last.
  if (p.succeededAt === null && p.status !== 'refunded' && !isLetGo) p.status = e.status;
}

function howItDiffers(e: PaymentEvent, other: string | null): ConflictFact {
  const { eventId: event, refundId, processorRefundId: processorRefund } = e;
  if (other === null) return { code: 'refund-differs', event, refund: refundId ?? processorRefund };
  const amount = { minor: e.amount, currency: e.currency };
  return { code: 'refund-named-otherwise', event, refund: refundId, amount, processorRefund, other };
}

function isSameMoney(r: RefundRow, e: PaymentEvent): boolean {
  return r.amount === e.amount && r.currency === e.currency;
}

/** Found by the processor's id alone: two ids of the MoR are two refunds, and one of the two has the id of the other. */
function isNamedOtherwise(r: RefundRow, e: PaymentEvent): boolean {
  return r.morRefundId !== null && e.refundId !== null && r.morRefundId !== e.refundId;
}

function fillIds(r: Draft<RefundRow>, e: PaymentEvent): void {
  r.morRefundId ??= e.refundId;
  r.processorRefundId ??= e.processorRefundId;
}

/**
 * The refund of an event: by either id; else one of ours of the same amount without an id, since the webhook may come before the answer
 * to our request. (If that was another refund, the answer brings a second row: the sums are right.)
 */
function findRefund(lane: Lane, p: PaymentRow, e: PaymentEvent): Draft<RefundRow> | undefined {
  const own = lane.findRefunds(p);
  const alike = own.filter((r) => isSameMoney(r, e));
  const isSameTotal = (r: RefundRow): boolean => r.totalAfter !== null && r.totalAfter === e.amountRefundedTotal;
  if (e.refundId === null && e.processorRefundId === null) {
    // Document 3 makes both ids optional: the running total tells it from another, or it is the one of ours not yet announced.
    return alike.find(isSameTotal) ?? alike.find(awaitsEvent);
  }
  return (
    own.find((r) => e.refundId !== null && r.morRefundId === e.refundId) ??
    own.find((r) => e.processorRefundId !== null && r.processorRefundId === e.processorRefundId) ??
    alike.find((r) => isNameless(r, e.amount)) ??
    alike.find((r) => r.morRefundId === null && r.processorRefundId === null && isSameTotal(r))
  );
}

/** One of ours without an event yet. A joined row had its event before the request. */
function awaitsEvent(r: RefundRow): boolean {
  const over = r.status === 'failed' || r.status === 'joined' || r.askedAs !== null;
  return r.origin === 'api' && !over && r.totalAfter === null;
}

/** The payment with this name from a person, although its charge is another. */
function findMisnamed(lane: LaneRows, e: PaymentEvent): PaymentRow | undefined {
  const charge = e.processorChargeId;
  const isOther = (p: PaymentRow): boolean =>
    charge !== null && p.processorChargeId !== null && p.processorChargeId !== charge;
  return lane.payments.find((p) => p.paymentId === e.paymentId && p.identifiedBy !== null && isOther(p));
}

/** A refund under this name went to the customer of the other payment: only people can mend this. */
function tellMisnamed(lane: Lane, e: PaymentEvent, p: PaymentRow): Verdict {
  const { paymentId: payment, processorChargeId: charge, customerId: customer } = e;
  const said = { payment, charge, customer, amount: { minor: e.amount, currency: e.currency } };
  const own = { by: p.identifiedBy ?? '', ownCharge: p.processorChargeId };
  const fact = { code: 'payment-misnamed', ...own, ...said } as const;
  lane.ask({ kind: 'conflicting_event', subject: e.eventId, paymentRowId: p.id, fact });
  return done('that id is of another payment than the one that a person named so: not applied');
}

/** A person named the payment, the refund was asked for under that name, and the MoR names the payment otherwise. */
export function isRenamed(p: PaymentRow | undefined, r: RefundRow | undefined): boolean {
  const [asked, now] = [r?.askedOf ?? null, p?.paymentId ?? null];
  return asked !== null && now !== null && asked !== now;
}

/** Asked for under a name from a person, where the MoR names the payment otherwise: the money is not of this payment. */
export const renamedRefunds = itemRule(
  { 'payment-renamed': 'nothing was given back under that name' },
  function* (lane) {
    const { payments, refunds } = lane.toState();
    for (const p of payments) {
      const made = refunds.filter(
        (r) => r.paymentRowId === p.id && isRenamed(p, r) && r.status !== 'failed' && r.status !== 'joined',
      );
      for (const from of new Set(made.flatMap((r) => r.askedOf ?? []))) {
        const minor = made.reduce((sum, r) => (r.askedOf === from ? sum + r.amount : sum), 0n);
        const fact = {
          code: 'payment-renamed',
          from,
          to: paymentName(p),
          amount: { minor, currency: p.currency },
        } as const;
        yield { kind: 'conflicting_event', about: p, subject: `${p.id}:${from}`, fact };
      }
    }
  },
);

/** By the MoR's running total, else by age: the same refunds count in any order of arrival. */
function inOrder(a: RefundRow, b: RefundRow): number {
  const total = (r: RefundRow): bigint => r.totalAfter ?? 1n << 62n;
  if (total(a) !== total(b)) return total(a) < total(b) ? -1 : 1;
  return a.createdAt.getTime() - b.createdAt.getTime() || (a.id < b.id ? -1 : 1);
}

/** Counts succeeded refunds as long as they fit into the payment. The others stay visible and uncounted. */
export function countRefunds(lane: Lane): void {
  for (const p of lane.payments) {
    if (p.amount === null || p.succeededAt === null) continue; // its refunds arrived first: they wait
    for (const r of lane.findRefunds(p).toSorted(inOrder)) {
      if (r.status !== 'succeeded' || r.counted || r.currency !== p.currency) continue;
      // A running total beyond the payment cannot be true, whether or not the others have come yet.
      if (p.amountRefunded + r.amount > p.amount || (r.totalAfter ?? 0n) > p.amount) continue;
      p.amountRefunded += r.amount;
      p.status = paymentStatus(p, p.amountRefunded);
      r.counted = true;
      if (r.mirror === 'none') moveMirror(r, 'waiting');
      lane.book(refundPaid(p, r, lane.now, null));
    }
  }
}

/**
 * A person chose to give a payment back, and the refund failed, or a bank had taken a part before: the payment waits for a new read of its
 * invoice, and its item comes back.
 */
export function reconsiderParked(lane: Lane): void {
  for (const p of lane.payments) {
    if (p.mark !== 'parked' || lane.invoice === null || (p.amount !== null && p.amountRefunded >= p.amount)) continue;
    const items = lane.reviews.filter((r) => r.paymentRowId === p.id && PARKING.has(r.kind));
    // An item without a person's choice decided nothing.
    const chosen = items.findLast((r) => r.resolution !== 'cleared')?.resolution;
    if (chosen !== 'refund' || items.some((r) => r.status === 'open')) continue;
    if (lane.findRefunds(p).some((r) => ['requested', 'unknown', 'pending'].includes(r.status))) continue;
    lane.say('decision', `${paymentName(p)} was not given back in full: look at it again`, p);
    moveMark(p, 'waiting');
    lane.invoice.readAt = null;
  }
}

/**
 * Compares the refunds we know with the cumulative total of Document 3. A total above their sum means a missing event; refunds beyond the
 * payment or with overlapping totals mean an error.
 */
export const refundGaps = itemRule(
  { 'refunds-beyond-payment': whyGone, 'refund-event-missing': whyGone, 'totals-overlap': whyGone },
  function* (lane) {
    const { payments, refunds } = lane.toState();
    for (const p of payments) {
      const fact = findGap(p, refunds);
      if (fact !== null) yield { kind: 'refund_gap', about: p, fact };
    }
  },
);

function whyGone({ payments, refunds }: LaneRows, { subject }: ReviewRow): string {
  const isOther = payments.some((p) => p.id === subject && findGap(p, refunds) !== null);
  return isOther ? 'the refunds differ in another way' : 'the refunds add up';
}

type Gap = Holds<'refunds-beyond-payment' | 'refund-event-missing' | 'totals-overlap'>['fact'];

function findGap(p: PaymentRow, all: readonly RefundRow[]): Gap | null {
  const known = all.filter((r) => r.paymentRowId === p.id && r.status === 'succeeded');
  const sum = known.reduce((n, r) => n + r.amount, 0n);
  const sumOf = (minor: bigint): Money => ({ minor, currency: p.currency });
  const payment = paymentName(p);
  if (p.succeededAt !== null && p.amount !== null && (sum > p.amount || known.some((r) => !r.counted)))
    return { code: 'refunds-beyond-payment', payment, amount: sumOf(p.amount), refunded: sumOf(sum) };
  if (p.refundedTotal !== null && p.refundedTotal > sum)
    return { code: 'refund-event-missing', payment, reported: sumOf(p.refundedTotal), received: sumOf(sum) };
  // Each event covers the stretch from its total minus its amount up to its total; two stretches must not overlap.
  let end = 0n;
  for (const { totalAfter, amount } of known.toSorted(inOrder)) {
    if (totalAfter === null) continue;
    if (totalAfter - amount < end) return { code: 'totals-overlap', payment, at: sumOf(totalAfter) };
    end = totalAfter;
  }
  return null;
}

/**
 * A refund of a payment without money here, since its charge paid another invoice by a person's word: the books of neither show it, and the
 * other lane hears nothing. Once the MoR names a charge of its own for the payment, the refund is booked here.
 */
export const refundsElsewhere = itemRule(
  { 'refunded-elsewhere': 'the MoR named a charge of its own for the payment: the refund is in the ledger' },
  function* (lane) {
    const { payments, refunds, reviews } = lane.toState();
    for (const r of refunds) {
      const p = payments.find((x) => x.id === r.paymentRowId);
      if (r.status !== 'succeeded' || p === undefined || p.succeededAt !== null) continue;
      const isTold = reviews.some((x) => x.topic === 'refunded-elsewhere' && x.subject === r.id);
      if (!saysNothing(p) && !isTold) continue;
      const amount = { minor: r.amount, currency: r.currency };
      yield {
        kind: 'conflicting_event',
        about: r,
        fact: { code: 'refunded-elsewhere', amount, payment: effectName(p) },
      };
    }
  },
);

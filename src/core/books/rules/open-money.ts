// Open money of an invoice: a payment on its way to the invoice, a payment waiting for a person, or a payment announced
// by the MoR. While money is open, nobody charges the customer.
import { type Seen } from '../../../shared/domain/facts/parts.js';
import { isDismissed } from '../../../shared/domain/item.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import {
  announcedAt,
  endOfLink,
  heardAt,
  type MorObjectRow,
  objectName,
  type Observation,
} from '../../../shared/domain/mor-object.js';
import { effectName } from '../../../shared/domain/payment-name.js';
import { inBooks } from './collect.js';

/** In these stages a payment's mark has ended or is parked, so the payment is no longer on its way to the invoice. */
const SETTLED: ReadonlySet<PaymentRow['mark']> = new Set<PaymentRow['mark']>(['closed', 'confirmed', 'parked']);

/**
 * Names a payment on its way to the invoice, as a part of a sentence. Null: there is none. A charge now could make the
 * customer pay twice.
 */
export function moneyOnItsWay(payments: readonly PaymentRow[]): string | null {
  const coming = payments.find((p) => p.mark === 'proving');
  if (coming !== undefined)
    return `payment ${effectName(coming)} of its signup is not settled yet, and its money may still come`;
  const taken = payments.find((p) => p.succeededAt !== null && !SETTLED.has(p.mark));
  return taken === undefined ? null : `payment ${effectName(taken)} was taken and is being marked`;
}

/**
 * Names a taken payment waiting for a person, as a part of a sentence. Null: there is none. The amount due does not
 * count this payment yet, so the customer would pay it again.
 */
export function moneyUndecided({ payments, reviews }: Pick<LaneRows, 'payments' | 'reviews'>): string | null {
  const open = reviews.filter((r) => r.status === 'open');
  const p = payments.find(
    (x) =>
      x.mark === 'parked' &&
      open.some((r) => r.paymentRowId === x.id && (x.succeededAt !== null || isOfSharedCharge(r))),
  );
  return p === undefined
    ? null
    : `payment ${effectName(p)} was taken and waits for a person. Decide its review item first`;
}

/**
 * Names announced money, as a part of a sentence. Null: there is none. Two cases count. First: the MoR announced a
 * payment on a payment link, no read has confirmed the payment, and no person has dismissed its item. Second: the MoR
 * announced a further payment on the link, and its item is open.
 */
export function moneyAnnounced({ objects, reviews }: Pick<LaneRows, 'objects' | 'reviews'>): string | null {
  const o = objects.find((x) => announcedAt(x) !== null && !isInvestigated(reviews, x.id, heardAt(x)));
  if (o !== undefined) return notConfirmed(o);
  const isOpen = reviews.some((r) => isOpenAbout(r, 'further-announced'));
  return isOpen ? 'a further payment on its payment link was announced. Decide its review item first' : null;
}

export function notConfirmed(object: MorObjectRow): string {
  return `a payment on ${objectName(object)} was announced, and is not confirmed yet`;
}

/** True if a person dismissed a `conflicting_event` item with this `subject`, at `since` or later. */
export function isInvestigated(reviews: LaneRows['reviews'], subject: string, since: Date | null): boolean {
  return reviews.some((r) => r.kind === 'conflicting_event' && r.subject === subject && isDismissed(r, since));
}

/**
 * True if a read of the payment link is still due. Crossbill reads a link one more time after its end, because the
 * customer can pay in the last minute. If the MoR announced a payment, Crossbill keeps reading the link until a person
 * dismisses the item about this payment. Only a dismissal after the link's end counts.
 */
export function isUnread({ reviews }: Pick<LaneRows, 'reviews'>, object: MorObjectRow): boolean {
  const since = new Date(Math.max(endOfLink(object).getTime(), heardAt(object)?.getTime() ?? 0));
  return object.readDueAt !== null && !isInvestigated(reviews, object.id, since);
}

/** True for an item about a charge booked for another invoice: here Crossbill has no money to refund or mark. */
export function isOfSharedCharge({ topic }: ReviewRow): boolean {
  return topic === 'charge-elsewhere';
}

/** Every announcement of money on the invoice's links, and every booked payment, as the observations of an item. */
export function observationsOf({ objects, payments }: Pick<LaneRows, 'objects' | 'payments'>): readonly Seen[] {
  const announced = objects.flatMap((o) => (o.detail.observed ?? []).map((x) => seenOn(o, x)));
  return [...announced, ...payments.filter((p) => p.succeededAt !== null).map(inBooks)];
}

function seenOn({ morId, id }: MorObjectRow, seen: Observation): Seen {
  const { source, eventId, paymentId: payment, charge, amount, currency, at } = seen;
  const money = amount === null || currency === null ? null : { minor: BigInt(amount), currency };
  return { source, id: eventId, link: morId ?? id, payment, charge, money, at };
}

/** True for an open item with this fact. A feature may own the fact. */
export function isOpenAbout({ status, topic }: Pick<ReviewRow, 'status' | 'topic'>, code: string): boolean {
  return status === 'open' && topic === code;
}

// Payments on a link, announced by the MoR (`payment.captured`). The first payment counts. For further payments a
// person decides, with one item per invoice.
import { capturedId, idsIn, type MorServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { amountIn, idNamed, timeNamed } from '../../../shared/domain/events/payload-fields.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import {
  announcedOn,
  has,
  isSameMoney,
  type MorObjectRow,
  type Observation,
} from '../../../shared/domain/mor-object.js';
import { effectName, ownIdOf } from '../../../shared/domain/payment-name.js';
import { callKey } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type EventOutcome } from '../../../engine/event.js';
import { itemRule } from '../../../engine/items.js';
import { isInvestigated, observationsOf } from '../../../core/books/rules/open-money.js';
import { bookedAs } from '../../../core/books/rules/same-payment.js';
import { collect } from '../../../core/books/rules/collect.js';
import { captured, keepCapture } from '../../../core/mor-objects/rules/capture.js';
import { isTakenBack, putBack } from '../../../core/mor-objects/rules/mor-object.js';

/**
 * Records `payment.captured`. An event about one of our links announces a payment on the link: for the link's first
 * payment Crossbill then reads the link. An event about no link is about a card payment.
 */
export function applyCaptured(lane: Lane, event: MorServiceEvent): EventOutcome {
  const ids = new Set(idsIn(event.data));
  const link = lane.objects.find(
    (o) => o.kind === 'payment_link' && (has(ids, o.morId) || ids.has(callKey('create_payment_link', o.id, 1))),
  );
  if (link === undefined) return captured.apply(lane, event);
  const x = observationIn(lane, event);
  const isOpen = link.paymentRowId === null;
  link.detail = { ...link.detail, observed: [...(link.detail.observed ?? []), x] };
  link.readAttempts = 0;
  if (isOpen) link.readDueAt = lane.now;
  if (isOpen && link.morId === null && isTakenBack(link)) {
    // Crossbill withdrew its request for the link before a reply, but the event shows that the MoR made the link.
    // Crossbill sends the request again: for the same key the MoR returns this link.
    putBack(link);
    link.updatedAt = lane.now;
    lane.sendAgain(lane.calls.find((m) => m.kind === 'create_payment_link' && m.subject === link.id)?.id);
  }
  const [first] = announcedOn(link);
  const isFirst = first !== undefined && (first.eventId === x.eventId || isSameMoney(first, x));
  keepCapture(lane, event, isFirst ? link.paymentRowId : null);
  nameFirst(lane, link);
  return done(isOpen ? 'Crossbill reads the link to confirm it' : 'the payment on this link is already recorded');
}

function observationIn({ now }: Lane, event: MorServiceEvent): Observation {
  const amount = amountIn(event.data);
  return {
    source: 'event',
    eventId: event.eventId,
    charge: idNamed(event.data, 'pspReference', 'processorChargeId', 'chargeId', 'psp_reference'),
    paymentId: capturedId(event),
    amount: amount?.minor.toString() ?? null,
    currency: amount?.currency ?? null,
    at: (timeNamed(event.data, 'capturedAt') ?? event.createdAt ?? now).toISOString(),
    heardAt: now.toISOString(),
  };
}

/**
 * Copies the charge and the payment id from the first announcement to the link's payment. An API request copies only
 * the charge: only a worker has checked that no other invoice has the payment id.
 */
export function nameFirst(lane: Lane, object: MorObjectRow): void {
  const p = lane.payments.find((x) => x.id === object.paymentRowId && x.origin === 'payment_link');
  const [first] = announcedOn(object);
  if (p === undefined || first === undefined || isOther(lane, object, first)) return;
  const { paymentId } = first;
  const isFree =
    paymentId !== null &&
    lane.ctx.beside !== true &&
    ownIdOf(p) === null &&
    lane.ctx.paymentsElsewhere?.has(paymentId) !== true &&
    !lane.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  p.processorChargeId ??= first.charge;
  if (isFree) Object.assign(p, { paymentId, identifiedBy: null });
}

// ---- Further payments on a link

/** The further payments the MoR announced on the links and Crossbill has not booked. */
export function furtherIn(lane: LaneRows): readonly Observation[] {
  const further = (object: MorObjectRow): readonly Observation[] =>
    announcedOn(object).filter((x, n) => n > 0 || isOther(lane, object, x));
  return lane.objects.flatMap(further).filter((x) => bookedAs(lane, x) === undefined);
}

/** True if the announced payment `seen` is not the link's booked payment: the charges or the MoR's ids differ. */
function isOther({ payments }: LaneRows, { paymentRowId }: MorObjectRow, seen: Observation): boolean {
  const p = payments.find((row) => row.id === paymentRowId);
  if (p === undefined || bookedAs({ payments: [p] }, seen) !== undefined) return false;
  const differ = (one: string | null, other: string | null): boolean => one !== null && other !== null && one !== other;
  return differ(p.processorChargeId, seen.charge) || differ(ownIdOf(p), seen.paymentId);
}

/**
 * An item about further payments on a link. While the item is open, Crossbill charges nothing (core/books/rules/open-money.ts). A
 * person's choice holds until the MoR announces another payment.
 */
export const furtherItems = itemRule(
  { 'further-announced': 'the ledger has each announced payment, or the MoR refunded it' },
  function* (lane) {
    const further = furtherIn(lane);
    const subject = `${lane.lane}:announced`;
    const since = new Date(Math.max(...further.map((x) => Date.parse(x.heardAt))));
    if (further.length === 0 || isInvestigated(lane.reviews, subject, since)) return;
    const fact = {
      code: 'further-announced',
      further: further.map(({ paymentId: payment, charge }) => ({ payment, charge })),
      observations: observationsOf(lane),
    } as const;
    yield { kind: 'conflicting_event', about: { id: subject }, fact, since };
  },
);

/**
 * Books a further payment if it has a refund: the refund proves that the MoR took the money. A person decides about the
 * rest of the money. If the amount is unknown, Crossbill books nothing.
 */
export function postRefunded(lane: Lane): void {
  for (const x of furtherIn(lane)) postOne(lane, x);
}

function postOne(lane: Lane, seen: Observation): void {
  if (bookedAs(lane, seen) !== undefined) return;
  const given = ({ id }: PaymentRow): bigint =>
    lane.refunds.reduce((n, r) => (r.paymentRowId === id && r.status === 'succeeded' ? n + r.amount : n), 0n);
  const p = lane.payments.find(
    (row) =>
      row.mark === 'none' &&
      given(row) > 0n &&
      isSameMoney({ charge: row.processorChargeId, paymentId: ownIdOf(row) }, seen),
  );
  // Document 3: `refunded` means the refunds add up to the whole payment.
  const whole = p?.status === 'refunded' ? (p.refundedTotal ?? given(p)) : null;
  const amount = whole ?? (seen.amount === null || seen.currency !== p?.currency ? null : BigInt(seen.amount));
  if (p === undefined || amount === null) return;
  moveMark(p, 'waiting');
  moveMark(p, 'parked', { status: 'succeeded', amount, succeededAt: new Date(seen.at) });
  if (!collect(lane, p, null) || given(p) >= amount) return; // a fully refunded payment closes later (payments/)
  const taken = { minor: amount, currency: p.currency };
  const fact = { code: 'further-on-link', payment: effectName(p), taken, observations: observationsOf(lane) } as const;
  lane.openReview({ kind: 'double_payment', subject: p.id, paymentRowId: p.id, fact });
}

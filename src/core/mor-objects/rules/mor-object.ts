// Shared rules for proforma invoices, payment links and other objects at the MoR: find an object by its id, read it,
// and record its only payment. Also warns if a customer can still pay an object of a paid invoice.
import { type Mutable } from '../../../shared/domain/row.js';
import {
  announcedAt,
  announcedOn,
  dueDate,
  heardAt,
  isLiveProforma,
  isPayableLink,
  isSameMoney,
  isOpenLink,
  type MorObjectKind,
  type MorObjectRow,
  newMorObject,
  objectName,
  TRANSFERRED,
} from '../../../shared/domain/mor-object.js';
import { type LaneRows, type PaymentRow } from '../../../shared/domain/model.js';
import { type Money, showMoney } from '../../../shared/domain/money.js';
import { ownIdOf } from '../../../shared/domain/payment-name.js';
import { type CallOutcome, codesOf, mayPass } from '../../../shared/domain/ports/call.js';
import { type ObjectFacts } from '../../../shared/domain/ports/mor-channels.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { type Holds, itemRule } from '../../../engine/items.js';
import { type Lookup } from '../../../engine/lookup.js';
import { isOpenAbout } from '../../books/rules/open-money.js';
import { bookedAs } from '../../books/rules/same-payment.js';
import { newPayment } from '../../books/rules/payment-rows.js';
import { collect } from '../../books/rules/collect.js';
import {
  LINK_CONFIRM_TRIES,
  LINK_LAST_POLL_AFTER_MS,
  OBJECT_FIRST_POLL_MS,
  OBJECT_LONGEST_PAUSE_MS,
  TRANSFER_LATE_MS,
} from '../../../shared/policy.js';

/**
 * Finds an object by kind and the MoR's id. Adds the object if an event names it before the reply to our request, or if
 * Crossbill never requested the object.
 */
export function findOrAddObject(lane: Lane, kind: MorObjectKind, morId: string): Mutable<MorObjectRow> {
  const known = lane.objects.find((o) => o.kind === kind && o.morId === morId);
  if (known !== undefined) return known;
  // If Crossbill's request for a proforma invoice has no reply yet, or if Crossbill withdrew the request, the event can
  // only be about the object of this request.
  const awaited = kind === 'proforma' ? lane.objects.find((o) => o.kind === kind && isAwaited(o)) : undefined;
  if (awaited !== undefined) {
    putBack(awaited);
    awaited.morId = morId;
    return awaited;
  }
  const id = lane.ctx.newId('obj');
  return lane.add('objects', newMorObject(lane.now, { id, kind, morId, invoiceId: lane.lane, status: 'UNKNOWN' }));
}

function isAwaited(object: MorObjectRow): boolean {
  return object.morId === null && (object.status === 'REQUESTED' || object.detail.mayStand === true);
}

/**
 * True if the MoR refused the request for the object, or Crossbill withdrew the request. Also true for `REPLACED` with
 * `mayStand`: Crossbill requests a new link instead, but the MoR may have made the first link.
 */
export function isTakenBack(object: MorObjectRow): boolean {
  return object.status === 'REFUSED' || (object.status === 'REPLACED' && object.detail.mayStand === true);
}

/** Restores an object after Crossbill withdrew the request for it: the MoR has made the object after all. */
export function putBack(object: Mutable<MorObjectRow>): void {
  if (!isTakenBack(object)) return;
  const { refusal: _refusal, mayStand: _mayStand, ...detail } = object.detail;
  Object.assign(object, { status: 'REQUESTED', detail });
}

// ---- Reads

type Kind = 'proforma' | 'payment_link';
type FactsOf<K extends Kind> = Extract<ObjectFacts, { readonly kind: K }>;
type Question = { readonly objectId: string; readonly morId: string };
/** The result of a read. Null: the MoR does not know the object. */
export type ObjectRead = CallOutcome<ObjectFacts | null>;
export type ObjectLookup = Lookup<Question, ObjectRead> & { readonly kind: Kind };

/** Makes the lookup for objects of one kind. `apply` records the MoR's facts after the read. */
export function objectLookup<K extends Kind>(
  kind: K,
  apply: (lane: Lane, object: Mutable<MorObjectRow>, facts: FactsOf<K>) => void,
): ObjectLookup {
  const isOfKind = (facts: ObjectFacts): facts is FactsOf<K> => facts.kind === kind;
  return {
    name: 'read-object',
    kind,
    wanted: (lane) => {
      for (const { id: objectId, kind: of, morId, readDueAt } of lane.objects)
        if (of === kind && morId !== null && lane.isPast(readDueAt)) return { objectId, morId };
      return null;
    },
    ask: ({ morId }, { channels }) => channels.read(kind, morId),
    apply: (lane, outcome, { objectId }) => {
      const o = lane.findObject(objectId);
      const facts = o === undefined ? null : applyRead(lane, o, outcome);
      if (o === undefined || facts === null) return;
      const { status } = facts.kind === 'proforma' ? facts.proforma : facts.link;
      if (!isOfKind(facts)) return;
      if (status !== o.status) lane.log('call', `${objectName(o)} is ${status.replaceAll('_', ' ')}`, o);
      apply(lane, o, facts);
    },
  };
}

/** Counts the read. Returns the MoR's facts about the object. Null: the read failed, or the object is gone. */
function applyRead(lane: Lane, object: Mutable<MorObjectRow>, outcome: ObjectRead): ObjectFacts | null {
  // A read before its due time, for a caller of the API, does not count as a try.
  const isEarly = object.readDueAt !== null && object.readDueAt > lane.now;
  if (!outcome.ok) {
    if (object.readDueAt === null) return null;
    if (!isEarly) object.readAttempts++;
    object.readDueAt = retryAt(lane.ctx, object.readAttempts, outcome.retryAfterMs, !mayPass(outcome));
    const since = object.detail.silent?.since ?? lane.now.toISOString();
    object.detail = { ...object.detail, silent: { since, answer: codesOf(outcome), passes: mayPass(outcome) } };
    // The link's payment is booked, so after the link's end nobody needs another read.
    if (object.kind === 'payment_link' && object.paymentRowId !== null && !isPayableLink(object, lane.now))
      object.readDueAt = null;
    return null;
  }
  if (!isEarly) object.readAttempts++;
  if (outcome.value === null) {
    applyGone(lane, object, isEarly);
    return null;
  }
  const { silent: _silent, ...detail } = object.detail;
  object.detail = detail;
  if (!isEarly) object.readDueAt = null;
  return outcome.value;
}

function applyGone(lane: Lane, object: Mutable<MorObjectRow>, isEarly: boolean): void {
  const { silent, ...detail } = object.detail;
  // The MoR announced a payment on the link, but may not show the link yet. So read again a few times.
  if (announcedAt(object) !== null && object.readAttempts < LINK_CONFIRM_TRIES) {
    object.detail = detail;
    if (!isEarly) object.readDueAt = retryAt(lane.ctx, object.readAttempts, null);
    return;
  }
  // An open item about an unreadable link keeps its facts.
  const isAsked = lane.reviews.some((r) => isOpenAbout(r, 'link-unread') && r.subject === object.id);
  object.detail = isAsked && silent !== undefined ? { ...detail, silent } : detail;
  object.readDueAt = null;
  object.readAttempts = 0;
  if (object.status === 'DELETED' || (object.status === 'PAID' && object.paymentRowId === null)) return;
  object.status = 'DELETED';
  object.updatedAt = lane.now;
  lane.log('call', `the MoR no longer knows ${objectName(object)}`, object);
}

/** Plans reads of the objects that may change at the MoR, because a webhook may be lost for good. */
export function pollObjects(lane: Lane): void {
  for (const o of lane.objects) if (o.readDueAt === null && o.morId !== null) o.readDueAt = nextPoll(o, lane.now);
}

/**
 * The time of the next read of an object without an announced payment. Null: no read is needed. The pauses grow with
 * the object's age from a minute to a day. A link gets one more read after its end, for a payment just before the end.
 */
export function nextPoll(object: MorObjectRow, now: Date): Date | null {
  const age = now.getTime() - object.createdAt.getTime();
  const soon = now.getTime() + Math.min(OBJECT_LONGEST_PAUSE_MS, Math.max(OBJECT_FIRST_POLL_MS, age / 2));
  if (object.kind === 'payment_link') {
    if (!isOpenLink(object)) return null;
    const end = object.deadline === null ? Infinity : object.deadline.getTime() + LINK_LAST_POLL_AFTER_MS;
    return new Date(end > now.getTime() ? Math.min(soon, end) : soon);
  }
  if (!isLiveProforma(object) || object.status === 'REQUESTED' || TRANSFERRED.has(object.status)) return null;
  return now.getTime() > dueDate(object).getTime() + TRANSFER_LATE_MS ? null : new Date(soon);
}

// ---- Money

/** How the MoR reported a payment. `parked`: a person decides first. */
type How = { readonly at: Date; readonly eventId: string | null; readonly parked: boolean };

/**
 * Records the money on an object as a payment. An object has only one payment. Returns `payment` null if Crossbill has
 * already recorded the payment.
 */
export function applyMoney(
  lane: Lane,
  object: Mutable<MorObjectRow>,
  received: Money,
  { at, eventId, parked }: How,
): { readonly payment: PaymentRow | null; readonly said: string } {
  const origin = object.kind === 'proforma' ? 'proforma' : 'payment_link';
  // The payment's own payment.* event may have arrived first. One charge is one payment, in either order.
  const known = lane.payments.find((p) => p.origin === origin && p.reference === object.morId) ?? takenOn(lane, object);
  if (known !== undefined) {
    object.paymentRowId = known.id;
    if (known.amount === received.minor && known.currency === received.currency)
      return { payment: null, said: 'this payment is already recorded' };
    const recorded = known.amount === null ? null : { minor: known.amount, currency: known.currency };
    lane.openReview({
      kind: 'conflicting_event',
      subject: eventId ?? `${object.id}:amount`,
      paymentRowId: known.id,
      fact: { code: 'announced-otherwise', object: object.morId ?? object.id, announced: received, recorded },
    });
    return { payment: null, said: 'differs from the record: not applied' };
  }
  const [first = { charge: null, paymentId: null }] = announcedOn(object);
  const before = refundedBefore(lane, first);
  const row = newPayment(lane.ctx, {
    ...before,
    status: 'succeeded',
    invoiceId: lane.lane,
    customerId: lane.invoice?.customerId ?? '', // nameCustomers adds the customer later
    currency: received.currency,
    amount: received.minor,
    origin,
    reference: object.morId,
    succeededAt: at,
    processorChargeId: first.charge ?? before?.processorChargeId ?? null,
    mark: parked ? 'parked' : 'waiting',
  });
  const payment = before === undefined ? lane.add('payments', row) : Object.assign(before, row);
  collect(lane, payment, eventId);
  object.paymentRowId = payment.id;
  const what = origin === 'proforma' ? 'by bank transfer for proforma invoice' : 'on payment link';
  return { payment, said: `${showMoney(received)} came ${what} ${object.number ?? object.morId ?? ''}` };
}

/** Finds the booked payment with the charge or id of this link's first payment. */
export function takenOn(lane: LaneRows, object: MorObjectRow): PaymentRow | undefined {
  const [first] = announcedOn(object);
  return first === undefined ? undefined : bookedAs(lane, first);
}

/** Finds the payment row for a refund that arrived before its payment. */
function refundedBefore(
  { payments, refunds }: Lane,
  names: { readonly charge: string | null; readonly paymentId: string | null },
): Mutable<PaymentRow> | undefined {
  return payments.find(
    (p) =>
      isSameMoney({ charge: p.processorChargeId, paymentId: ownIdOf(p) }, names) &&
      p.mark === 'none' &&
      refunds.some((r) => r.paymentRowId === p.id),
  );
}

/** Gives a payment without a customer the invoice's customer: no event of Document 2 names a customer. */
export function nameCustomers(lane: Lane): void {
  const customerId = lane.invoice?.customerId ?? null;
  if (customerId === null) return;
  for (const p of lane.payments) if (p.customerId === '') p.customerId = customerId;
}

// ---- Objects of a settled invoice

type OpenObjectFact = Holds<'may-stand' | 'still-payable'>['fact'];

const OPEN_OBJECT_CLEARS = {
  'may-stand': 'the MoR has made it after all',
  'still-payable': 'nobody can pay it any more, or the invoice can be paid',
};

/**
 * Items about a possible second payment: the customer can still pay a proforma invoice or a link of a paid or void
 * invoice, or the MoR may have made an object after Crossbill withdrew the request.
 */
export const openObjectItems = itemRule(OPEN_OBJECT_CLEARS, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'proforma' && o.kind !== 'payment_link') continue;
    const fact = dangerOf(lane, o);
    if (fact !== null)
      yield { kind: 'double_payment', about: o, paymentRowId: null, fact, actions: ['retry', 'dismiss'] };
  }
});

function canBePaid(object: MorObjectRow, now: Date): boolean {
  if (object.kind === 'payment_link') return isOpenLink(object) && isPayableLink(object, now);
  return (
    object.morId !== null && isLiveProforma(object) && object.status !== 'REQUESTED' && !TRANSFERRED.has(object.status)
  );
}

function dangerOf({ invoice, now }: Lane, row: MorObjectRow): OpenObjectFact | null {
  const what = row.kind === 'payment_link' ? 'payment_link' : 'proforma';
  const object = row.number ?? row.morId ?? row.id;
  if (row.detail.mayStand === true) return { code: 'may-stand', what, object, invoice: row.invoiceId };
  const status = invoice?.platformStatus;
  if ((status !== 'paid' && status !== 'void') || !canBePaid(row, now) || heardAt(row) !== null) return null;
  return { code: 'still-payable', what, object, status, until: row.deadline?.toISOString() ?? null };
}

// The payments of an invoice: how a payment begins, books its money and ends, and how an event finds its payment.
// Crossbill books each charge for one payment only, even if the MoR reports several payments with it.
import { type ChargeHolder, type Ctx } from '../../../engine/context.js';
import { type Seen } from '../../../shared/domain/facts/parts.js';
import {
  type InvoiceRow,
  type LaneRows,
  type LaneState,
  type LedgerEntry,
  PAYMENT,
  type PaymentRow,
  type ReviewRow,
  moveMark,
} from '../../../shared/domain/model.js';
import { newRow, type Mutable } from '../../../shared/domain/row.js';
import { effectName, OWN_PAYMENT, ownIdOf } from '../../../shared/domain/payment-name.js';
import { has, isSameMoney } from '../../../shared/domain/mor-object.js';
import { whyNothingDue } from '../../../shared/domain/nothing-due.js';
import { paymentCollected } from '../../../shared/domain/postings.js';
import { type PaymentEvent } from '../../../engine/event.js';
import { type Refusal, refuse, type Result } from '../../../engine/commanded.js';
import { type Lane } from '../../../engine/lane.js';
import { DAY_MS, HOUR_MS } from '../../../shared/policy.js';

export function newPayment(
  ctx: Ctx,
  over: Pick<PaymentRow, 'invoiceId' | 'customerId' | 'currency'> & Partial<PaymentRow>,
): PaymentRow {
  return newRow(PAYMENT, { id: ctx.newId(OWN_PAYMENT), recordedAt: ctx.now, ...over });
}

/**
 * Finds the payment of an event by the MoR's id. If no payment has this id, finds a payment by the event's charge or
 * payment intent. This second search leaves out payments of renewals.
 */
export function findPayment(lane: Pick<LaneRows, 'payments'>, event: PaymentEvent): PaymentRow | undefined {
  const byId = lane.payments.find((p) => p.paymentId === event.paymentId);
  if (byId !== undefined) return byId;
  return lane.payments.find(
    (p) =>
      (p.paymentId === null || p.identifiedBy !== null) && // Crossbill ignores an id entered by a person
      p.origin !== 'renewal' &&
      ((event.processorChargeId !== null && p.processorChargeId === event.processorChargeId) ||
        p.processorPaymentIntentId === event.processorPaymentIntentId),
  );
}

/** The known payment of this event, completed with the event's ids. If there is none, a new payment. */
export function withIds(lane: Pick<LaneRows, 'payments'>, event: PaymentEvent, ctx: Ctx): PaymentRow {
  const p =
    findPayment(lane, event) ??
    newPayment(ctx, {
      invoiceId: event.invoiceId,
      customerId: event.customerId,
      currency: event.currency,
      status: event.status,
    });
  return {
    ...p,
    paymentId: event.paymentId,
    identifiedBy: null,
    processorChargeId: p.processorChargeId ?? event.processorChargeId,
    processorPaymentIntentId: p.processorPaymentIntentId ?? event.processorPaymentIntentId,
  };
}

/** The payment of the event, as a row of the lane with the event's ids. */
export function takePayment(lane: Lane, event: PaymentEvent): Mutable<PaymentRow> {
  const row = withIds(lane, event, lane.ctx);
  const known = lane.findPayment(row.id);
  return known === undefined ? lane.add('payments', row) : Object.assign(known, row);
}

/** Gives a payment the MoR's id, as a person entered it. The database refuses one id for payments of two invoices. */
export function identifyPayment(lane: Lane, id: string, paymentId: string, by: string): Result<PaymentRow> {
  const p = lane.findPayment(id);
  if (p === undefined) return refuse(404, 'payment_not_found', 'There is no such payment.');
  if (p.paymentId === paymentId) return { ok: true, value: p };
  if (p.paymentId !== null)
    return refuse(409, 'payment_already_identified', `This payment is already named ${p.paymentId}.`, 'payment_id');
  const holder = lane.payments.find((x) => x.paymentId === paymentId);
  if (holder !== undefined) return idTaken(paymentId, holder);
  Object.assign(p, { paymentId, identifiedBy: by });
  lane.log('person', `${by} named this payment ${paymentId}`, p);
  return { ok: true, value: p };
}

/** Refuses `paymentId`: another payment, `holder`, already has this id. */
export function idTaken(paymentId: string, holder: Pick<PaymentRow, 'id' | 'invoiceId'>): Refusal {
  const message = `${paymentId} is the id of payment ${holder.id} of invoice ${holder.invoiceId} already.`;
  return refuse(409, 'payment_id_taken', message, 'payment_id');
}

/**
 * Finds the payment with one of these ids, or the payment of a refund or object with such an id. If there is none,
 * returns the only payment the MoR took on the invoice (`onlyTaken`). Null: the payment is unclear.
 */
export function paymentNamed(lane: LaneRows, ids: ReadonlySet<string>): PaymentRow | null {
  const refund = lane.refunds.find((r) => has(ids, r.morRefundId) || has(ids, r.processorRefundId) || has(ids, r.id));
  const object = lane.objects.find((o) => has(ids, o.morId) && o.paymentRowId !== null);
  const of = lane.payments.find(
    (p) =>
      has(ids, p.paymentId) ||
      has(ids, p.id) ||
      has(ids, p.processorChargeId) ||
      has(ids, p.processorPaymentIntentId) ||
      p.id === refund?.paymentRowId ||
      p.id === object?.paymentRowId,
  );
  return of ?? onlyTaken(lane, [...ids]);
}

/**
 * The only payment the MoR took on the invoice. Null: the MoR took none or several, or an id is the `pay_…` id of a
 * payment the MoR has not reported yet.
 */
export function onlyTaken(lane: Pick<LaneRows, 'payments'>, ids: readonly string[]): PaymentRow | null {
  const [only, second] = lane.payments.filter((p) => p.succeededAt !== null);
  if (only === undefined || second !== undefined) return null;
  const isNamedByMor = only.paymentId !== null && only.identifiedBy === null;
  return isNamedByMor && ids.some((id) => id.startsWith('pay_') && id !== only.paymentId) ? null : only;
}

/** While a payment has an open item of one of these kinds, Crossbill does not mark its invoice. */
export const PARKING: ReadonlySet<string> = new Set([
  'amount_mismatch',
  'currency_mismatch',
  'customer_mismatch',
  'invoice_not_payable',
  'double_payment',
  'partial_transfer',
  'effect_failed',
  'signup_unproven',
]);

/** Closes a payment without a mark. Stripe does not show the payment's refunds (core/refunds/rules/mirror.ts). */
export function closePayment(payment: Mutable<PaymentRow>): void {
  moveMark(payment, 'closed');
  if (payment.succeededAt === null) payment.status = 'failed'; // as far as Crossbill knows, the MoR took no money
}

/**
 * Why Crossbill must not request another charge: a payment arrived, or a refund arrived for a payment not reported
 * yet. Null: nothing speaks against a charge.
 */
export function paymentThatCame(lane: Pick<LaneState, 'payments' | 'refunds'>): string | null {
  const taken = lane.payments.find(mayBringMoney);
  if (taken !== undefined) return `payment ${effectName(taken)} came`;
  return lane.refunds.length > 0 ? 'money was given back for it, so some was taken' : null;
}

/**
 * True for a closed payment that brought no money, as far as Crossbill knows: its charge has no proof, or the ledger
 * has its charge for another invoice (`setAside`).
 */
export function saysNothing(payment: PaymentRow): boolean {
  return payment.mark === 'closed' && payment.succeededAt === null;
}

/** True if the payment's money has arrived or may be on its way. */
export function mayBringMoney(payment: PaymentRow): boolean {
  return payment.mark !== 'none' && !saysNothing(payment);
}

/**
 * True if Crossbill waits for the MoR's verdict on another charge of a refused renewal, and no money has arrived since.
 */
export function awaitsRetry(lane: Pick<LaneState, 'invoice' | 'payments'>): boolean {
  const waiting = lane.invoice?.retries?.waitingSince ?? null;
  return waiting !== null && !lane.payments.some(mayBringMoney);
}

/**
 * Starts the wait for the MoR's verdict on a refused renewal at `at`. Null ends the wait. Without a verdict in time, an
 * item opens.
 */
export function awaitVerdict(lane: Lane, at: Date | null): void {
  const i = lane.invoice;
  if (!i?.retries) return;
  i.retries = { ...i.retries, waitingSince: at?.toISOString() ?? null };
  if (at !== null) i.expectedBy = verdictDueBy(i, lane);
}

/** The deadline of the MoR's verdict on a charge requested now. Crossbill waits as long as for the first charge. */
export function verdictDueBy(
  invoice: Pick<InvoiceRow, 'paysByDebit'>,
  { now, settings }: Pick<Ctx, 'now' | 'settings'>,
): Date {
  const { renewalAlarmAfterHours: hours, bankDebitAlarmAfterDays: days } = settings;
  return new Date(now.getTime() + (invoice.paysByDebit === true ? days * DAY_MS : hours * HOUR_MS));
}

/**
 * True if this payment may have paid its invoice although Crossbill did not mark the invoice for it: a person marked
 * the invoice by hand, or the MoR reported this payment twice and Crossbill marked the invoice for the other report.
 */
export function mayHaveSettled(lane: LaneRows, payment: PaymentRow): boolean {
  const others = lane.payments.filter((x) => x.id !== payment.id && x.mark === 'confirmed');
  if (others.length === 0) return lane.invoice?.platformStatus === 'paid' && whyNothingDue(lane.invoice) === null;
  return others.some((x) => maybeOne(x, payment));
}

/**
 * True if both rows may be one payment. If both rows have a charge, their charges decide. Otherwise three things must
 * hold: one row is on a payment link and has no charge, both amounts are equal, and the MoR has not given the rows two
 * different ids.
 */
export function maybeOne(left: PaymentRow, right: PaymentRow): boolean {
  if (left.processorChargeId !== null && right.processorChargeId !== null)
    return left.processorChargeId === right.processorChargeId;
  const isOnLink = [left, right].some((p) => p.origin === 'payment_link' && p.processorChargeId === null);
  const [one, other] = [ownIdOf(left), ownIdOf(right)];
  const areTwo = one !== null && other !== null && one !== other;
  return isOnLink && !areTwo && left.amount === right.amount && left.currency === right.currency;
}

/** The booked payment with this charge or this `pay_…` id. */
export function bookedAs(
  { payments }: Pick<LaneState, 'payments'>,
  names: { readonly charge: string | null; readonly paymentId: string | null },
): PaymentRow | undefined {
  const isOf = (payment: PaymentRow): boolean =>
    isSameMoney({ charge: payment.processorChargeId, paymentId: ownIdOf(payment) }, names);
  return payments.find((p) => p.succeededAt !== null && isOf(p));
}

/** The charges booked in this step. */
export function collectedCharges(entries: readonly LedgerEntry[]): readonly string[] {
  return entries.flatMap((e) =>
    e.reason === 'payment_collected' && e.processorChargeId !== null ? [e.processorChargeId] : [],
  );
}

/** A booked payment, as one of the observations of an item. */
export function inBooks(payment: PaymentRow): Seen {
  const money = payment.amount === null ? null : { minor: payment.amount, currency: payment.currency };
  const at = payment.succeededAt?.toISOString() ?? null;
  return {
    source: 'books',
    id: effectName(payment),
    payment: payment.paymentId,
    charge: payment.processorChargeId,
    money,
    at,
  };
}

/**
 * Books the money of a payment. Returns false if the charge belongs to another invoice's payment: then Crossbill
 * neither books nor marks, and an item names both payments.
 */
export function collect(lane: Lane, payment: Mutable<PaymentRow>, eventId: string | null): boolean {
  const { amount, processorChargeId: charge } = payment;
  if (amount === null) return true;
  const holder = charge === null ? undefined : lane.ctx.chargesElsewhere?.get(charge);
  if (holder !== undefined) {
    setAside(lane, payment, amount, holder);
    return false;
  }
  const isOf = (paymentRowId: string | null, topic: string): boolean =>
    topic === 'charge-elsewhere' && paymentRowId === payment.id;
  const how = { by: null, resolution: 'cleared', note: 'the MoR names a charge of its own for it' } as const;
  lane.closeItems((r) => isOf(r.paymentRowId, r.topic), how);
  const entry = paymentCollected(payment, amount, lane.now, eventId);
  const again = lane.payments.some(
    (x) => x.id !== payment.id && x.succeededAt !== null && x.processorChargeId === charge,
  );
  lane.post(again ? { ...entry, processorChargeId: null } : entry);
  return true;
}

/**
 * Parks the payment, or leaves it closed, and opens an item. A person can only dismiss the item. If the MoR reports the
 * same charge again, nothing changes.
 */
function setAside(lane: Lane, payment: Mutable<PaymentRow>, amount: bigint, holder: ChargeHolder): void {
  Object.assign(payment, { succeededAt: null, proveDueAt: null });
  if (payment.mark === 'closed') payment.status = 'failed';
  else {
    if (payment.mark !== 'parked') moveMark(payment, 'waiting');
    moveMark(payment, 'parked');
  }
  lane.openReview({
    kind: 'double_payment',
    subject: `${payment.id}:charge`,
    paymentRowId: payment.id,
    fact: {
      code: 'charge-elsewhere',
      payment: effectName(payment),
      amount: { minor: amount, currency: payment.currency },
      charge: payment.processorChargeId,
      holder: holder.payment,
      holderInvoice: holder.invoiceId,
    },
    actions: ['dismiss'],
  });
}

/** Accepts a signup's charge as proven. Its payment then waits for the mark, like the payment of a renewal. */
export function accept(lane: Lane, payment: Mutable<PaymentRow>, how: string): void {
  if (payment.amount === null) return;
  const isNew = payment.succeededAt === null;
  Object.assign(payment, { status: 'succeeded', succeededAt: payment.succeededAt ?? lane.now, proveDueAt: null });
  if (isNew && !collect(lane, payment, null)) return;
  moveMark(payment, 'waiting');
  lane.log('decision', `charge ${payment.processorChargeId ?? ''} is proven: ${how}`, payment);
}

/** Accepts the amount of a signup's payment as certain. The payment's item closes, and its waiting mark continues. */
export function settleAmount(lane: Lane, payment: Mutable<PaymentRow>, note: string): void {
  const isAsked = lane.reviews.some((r) => isOfAmount(payment, r));
  if (!isAsked) return;
  lane.closeItems((r) => isOfAmount(payment, r), { by: null, resolution: 'cleared', note });
  if (payment.mark === 'parked' && payment.succeededAt !== null) moveMark(payment, 'waiting');
}

function isOfAmount({ signupId }: PaymentRow, item: ReviewRow): boolean {
  return signupId !== null && item.status === 'open' && item.kind === 'amount_mismatch' && item.subject === signupId;
}

// The payments of an invoice: how a payment begins, and how an event or a list of ids finds its payment.
import { type Ctx } from '../../../engine/context.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow, PAYMENT } from '../../../shared/domain/payment-row.js';
import { newRow, type Mutable } from '../../../shared/domain/row.js';
import { OWN_PAYMENT } from '../../../shared/domain/payment-name.js';
import { type PaymentEvent } from '../../../engine/event.js';
import { type Lane } from '../../../engine/lane.js';
import { has } from '../../../shared/domain/mor-object.js';

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

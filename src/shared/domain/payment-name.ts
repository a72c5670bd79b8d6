// The id of a payment, for keys, pages and people: the MoR's id, or our own id until the MoR gives one.
import { type PaymentRow } from './payment-row.js';

/** The prefix of our own payment ids. */
export const OWN_PAYMENT = 'pmt';

/**
 * The payment's id in the idempotency keys of its calls: the MoR's id, or our own id. No other payment gets this id.
 */
export function effectName(payment: PaymentRow): string {
  return payment.paymentId ?? payment.id;
}

/**
 * True if both ids may belong to one payment: they are equal, or at least one of them is our own id. Two different own
 * ids prove nothing, because after a restore Crossbill gives the same payment a new own id.
 */
export function mayBeOneName(one: string, other: string): boolean {
  return one === other || [one, other].some((name) => name.startsWith(`${OWN_PAYMENT}_`));
}

/** The MoR's payment id, if the MoR itself gave it. Null if a person entered the id, or if there is none. */
export function ownIdOf({ paymentId, identifiedBy }: PaymentRow): string | null {
  return identifiedBy === null ? paymentId : null;
}

/** The payment id in the API and on pages. */
export function paymentName(payment: PaymentRow): string {
  return payment.paymentId ?? payment.id;
}

/**
 * Tells a person how to get the payment id: a refund request needs the `pay_...` id (Document 3), and only `payment.*`
 * events contain this id.
 */
export const HOW_TO_NAME =
  "Crossbill does not know the MoR's id (pay_...) of this payment yet. Find the id in the MoR's portal, then enter it: POST /v1/payments/{id}/identify, crossbill refund --payment-id, or the payment's page in the console. If the portal shows no such id, refund the payment there.";

/** Document 3 gives payment ids the prefix `pay_`. */
export function isPaymentId(text: string): boolean {
  return /^pay_[\x21-\x7e]{1,251}$/.test(text);
}

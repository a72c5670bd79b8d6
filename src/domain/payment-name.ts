// A payment's name: the MoR's id, or our own before the MoR gives one.
import { type PaymentRow } from './model.js';

/** How our own ids of payments begin. */
export const OWN_PAYMENT = 'pmt';

/** The name for a payment's effects, unique for good: the MoR's id, or ours before it has one. */
export function effectName(p: PaymentRow): string {
  return p.paymentId ?? p.id;
}

/** Whether two names may be one payment's: our own id stands for it in one database only, and a restored one has made another since. */
export function mayBeOneName(a: string, b: string): boolean {
  return a === b || [a, b].some((name) => name.startsWith(`${OWN_PAYMENT}_`));
}

/** The MoR's id of a payment, where the MoR itself gave it and no person. */
export function ownIdOf({ paymentId, identifiedBy }: PaymentRow): string | null {
  return identifiedBy === null ? paymentId : null;
}

/** The id of a payment towards the outside. */
export function paymentName(p: PaymentRow): string {
  return p.paymentId ?? p.id;
}

/** Document 3 refunds by `pay_...` ids, and only its `payment.*` events name them: how to name a payment without one. */
export const HOW_TO_NAME =
  "The MoR's id of this payment (pay_...) is still unknown here. Name it first: POST /v1/payments/{id}/identify, crossbill refund --payment-id, or the payment's page in the console; the MoR portal shows it. Refund a payment without such an id in the MoR's portal.";

/** Document 3 gives its payment ids the prefix `pay_`. */
export function isPaymentId(text: string): boolean {
  return /^pay_[\x21-\x7e]{1,251}$/.test(text);
}

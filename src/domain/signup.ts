// A signup as it is kept.
import { bigint, bool, code, key, rowOf, type RowOf, text, time } from './row.js';

/** `method`: another payment method of a customer, who signed up before. */
export type SignupKind = 'payment' | 'trial' | 'method';

export const SIGNUP = rowOf('signup', {
  id: key(), // sup_…, or met_… for another payment method
  kind: text<SignupKind>(),
  customerId: text(),
  /** Smallest units; null for a setup. */
  amount: bigint().orNull,
  currency: code(3).orNull,
  /** `requested` until the MoR answered, then the MoR's own word; `refused` when it would not. */
  status: text(),
  /** `setup_intent_id` or `payment_intent_id`. */
  intentId: text().orNull,
  morCustomerId: text().orNull,
  taxCalculationId: text().orNull,
  /** Its calculation could not be used and was made again, once. */
  recalculated: bool().first(false),
  /** The idempotency key towards the MoR. */
  morKey: text(),
  /** What is sent to the MoR, the same bytes on every try; `body` null once erased. */
  path: text(),
  body: text().orNull.personal(),
  /** One request at a time is sent for a signup; null or past: nobody is at it. */
  busyUntil: time().orNull,
  createdBy: text(),
  invoiceId: text().orNull,
  chargeId: text().orNull,
  paymentRowId: text().orNull,
  completedAt: time().orNull,
  /** When the confirmation of its payment method became known; null: it is not known. */
  confirmedAt: time().orNull,
  /** `charge`: a charge succeeded; else who reported it. */
  confirmedBy: text().orNull,
  /** When somebody reported the confirmation first; null: nobody did. */
  reportedAt: time().orNull,
  /** When the customer's refused renewals got to know of the confirmation; null: they have to. */
  triedAt: time().orNull,
  createdAt: time(),
});
export type SignupRow = RowOf<typeof SIGNUP>;

// A signup as stored.
import { bigint, bool, code, key, rowOf, type RowOf, text, time } from './row.js';

/** `method`: another payment method of a customer with an earlier signup. */
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
  /** Its calculation was unusable and was made again, once. */
  recalculated: bool().first(false),
  /** The idempotency key towards the MoR. */
  morKey: text(),
  /** The bytes for the MoR, the same on every try; `body` null once erased. */
  path: text(),
  body: text().orNull.personal(),
  /** Only one request goes out for a signup at a time; null or past: nobody is at it. */
  busyUntil: time().orNull,
  createdBy: text(),
  invoiceId: text().orNull,
  chargeId: text().orNull,
  paymentRowId: text().orNull,
  completedAt: time().orNull,
  /** Time the confirmation of its payment method became known; null: unknown. */
  confirmedAt: time().orNull,
  /** `charge`: a charge succeeded; else the reporter. */
  confirmedBy: text().orNull,
  /** When somebody reported the confirmation first; null: nobody did. */
  reportedAt: time().orNull,
  /** When the customer's refused renewals got to know of the confirmation; null: they have to. */
  triedAt: time().orNull,
  createdAt: time(),
});
export type SignupRow = RowOf<typeof SIGNUP>;

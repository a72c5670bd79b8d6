// A signup, as the database stores it.
import { bigint, bool, code, key, rowOf, type RowOf, text, time, word } from './row.js';

/** The kinds of signups. `method`: another payment method for a customer with an earlier signup. */
export type SignupKind = 'payment' | 'trial' | 'method';

export const SIGNUP = rowOf('signup', {
  id: key(), // sup_…, or met_… for another payment method
  kind: word<SignupKind>(),
  customerId: text(),
  /** In smallest units. Null: a setup intent has no amount. */
  amount: bigint().orNull,
  currency: code(3).orNull,
  /** `requested` until the MoR replies, then the MoR's own word. `refused`: the MoR refused the request. */
  status: word(),
  /** `setup_intent_id` or `payment_intent_id`. */
  intentId: text().orNull,
  morCustomerId: text().orNull,
  taxCalculationId: text().orNull,
  /** True: the MoR could not use the tax calculation, so Crossbill made a second and last one. */
  recalculated: bool().first(false),
  /** The idempotency key for the MoR. */
  morKey: text(),
  /** The path and the body of the request to the MoR, the same on every try. `body` is null after an erasure. */
  path: text(),
  body: text().orNull.personal(),
  /**
   * The end of the lock on the signup: only one request of a signup goes out at a time. Null or past: there is no lock.
   */
  busyUntil: time().orNull,
  createdBy: text(),
  invoiceId: text().orNull,
  chargeId: text().orNull,
  paymentRowId: text().orNull,
  completedAt: time().orNull,
  /** When Crossbill learned of the customer's confirmation of the payment method. Null: not yet. */
  confirmedAt: time().orNull,
  /** The reporter of the confirmation. `charge`: a successful charge proves it. */
  confirmedBy: text().orNull,
  /** When somebody first reported the confirmation. Null: never. */
  reportedAt: time().orNull,
  /** When Crossbill passed the confirmation to the customer's refused renewals. Null: not yet. */
  triedAt: time().orNull,
  createdAt: time(),
});
export type SignupRow = RowOf<typeof SIGNUP>;

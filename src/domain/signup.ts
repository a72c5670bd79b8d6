// A signup as it is kept.

/** `method`: another payment method of a customer, who signed up before. */
export type SignupKind = 'payment' | 'trial' | 'method';

export type SignupRow = {
  readonly id: string; // sup_…, or met_… for another payment method
  readonly kind: SignupKind;
  readonly customerId: string;
  /** Smallest units; null for a setup. */
  readonly amount: bigint | null;
  readonly currency: string | null;
  /** `requested` until the MoR answered, then the MoR's own word; `refused` when it would not. */
  readonly status: string;
  /** `setup_intent_id` or `payment_intent_id`. */
  readonly intentId: string | null;
  readonly morCustomerId: string | null;
  readonly taxCalculationId: string | null;
  /** Its calculation could not be used and was made again, once. */
  readonly recalculated: boolean;
  /** The idempotency key towards the MoR. */
  readonly morKey: string;
  /** What is sent to the MoR, the same bytes on every try; `body` null once erased. */
  readonly path: string;
  readonly body: string | null;
  /** One request at a time is sent for a signup; null or past: nobody is at it. */
  readonly busyUntil: Date | null;
  readonly createdBy: string;
  readonly invoiceId: string | null;
  readonly chargeId: string | null;
  readonly paymentRowId: string | null;
  readonly completedAt: Date | null;
  /** When the confirmation of its payment method became known; null: it is not known. */
  readonly confirmedAt: Date | null;
  /** `charge`: a charge succeeded; else who reported it. */
  readonly confirmedBy: string | null;
  /** When somebody reported the confirmation first; null: nobody did. */
  readonly reportedAt: Date | null;
  /** When the customer's refused renewals got to know of the confirmation; null: they have to. */
  readonly triedAt: Date | null;
  readonly createdAt: Date;
};

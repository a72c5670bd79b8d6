// Signups as they are kept, and what a POST with an idempotency key made.

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

/** The name of a POST that creates: who asked, for what, under which key. */
export type RequestName = {
  readonly apiKey: string;
  readonly method: string;
  readonly path: string;
  readonly idempotencyKey: string;
};

/** With a hash of what was asked, to tell a repeat from a clash. */
export type NamedRequest = RequestName & { readonly bodySha256: Buffer };

export type Remembered =
  { readonly known: false } | { readonly known: true; readonly sameBody: boolean; readonly objectId: string };

export abstract class Signups {
  /** Stores a new signup, made now by the database's time, and its request's name with it; gives what was there when that name was used before. */
  abstract create(signup: SignupRow, name: NamedRequest | null): Promise<Remembered>;
  abstract find(id: string): Promise<SignupRow | null>;
  /** Takes the right to send a signup's request for `forMs` milliseconds; false while another holds it. */
  abstract claim(id: string, forMs: number): Promise<boolean>;
  /** The MoR answered: the intent, and the customer's link, for good. */
  abstract answered(id: string, answer: { intentId: string; morCustomerId: string; status: string }): Promise<void>;
  /** The MoR refused, or gave no answer: the next try may begin at once. */
  abstract unanswered(id: string, status: 'requested' | 'refused'): Promise<void>;
  /** Binds another calculation: the stored request and its key are replaced, before anything is sent again. */
  abstract rebind(
    id: string,
    to: { readonly taxCalculationId: string; readonly morKey: string; readonly body: string | null },
  ): Promise<void>;
  /**
   * Of these signups, those that are complete: the charge of a payment is proven, or the payment method of a trial counts as confirmed. The
   * MoR's payment API has no read and no event of a confirmed setup.
   */
  abstract proven(ids: readonly string[]): Promise<ReadonlySet<string>>;
  abstract completed(id: string, by: { invoiceId: string; chargeId: string; paymentRowId: string }): Promise<void>;
  /** Makes a review item of each signup that has had no completion for `afterMs` milliseconds. Gives how many. */
  abstract flagOverdue(afterMs: number): Promise<number>;
}

export abstract class Requests {
  abstract recall(name: RequestName, bodySha256: Buffer): Promise<Remembered>;
  /** Remembers what a request made; what is there already when it was made at the same time. */
  abstract remember(name: RequestName, bodySha256: Buffer, objectId: string): Promise<Remembered>;
}

/** Who did what, when, from where, with what outcome; refused tries too. Never changed, never deleted. */
export abstract class AuditLog {
  abstract write(entry: {
    readonly actor: string;
    readonly role: string | null;
    readonly action: string;
    readonly target: string | null;
    readonly source: string;
    readonly outcome: string;
    readonly status: number;
    readonly detail: Readonly<Record<string, unknown>> | null;
  }): Promise<void>;
}

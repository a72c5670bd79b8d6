// Trying again to collect a renewal that was refused: the schedule that an operator chose, and what was done of it for one invoice.

/**
 * What a refusal calls for. `soft`: the same method may work later. `hard`: it will not, the customer must give another one.
 * `authentication`: the customer must confirm the payment.
 */
export const REFUSAL_KINDS = ['soft', 'hard', 'authentication'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

/** `charge`: ask the MoR to charge again, so long after the refusal. `link`: make a payment link, at once. */
export type RetryStep = { readonly do: 'charge'; readonly afterMs: number } | { readonly do: 'link' };

/** What becomes of an invoice when every step failed. */
export const RETRY_ENDS = ['nothing', 'uncollectible', 'cancel'] as const;
export type RetryEnd = (typeof RETRY_ENDS)[number];

export type RetrySchedule = Readonly<Record<RefusalKind, readonly RetryStep[]>> & { readonly end: RetryEnd };

/** The newest refusal of the MoR. Times are ISO 8601, since all of this is stored as JSON. */
export type Refusal = {
  /** When the MoR made its event, by its clock. */
  readonly at: string;
  /** When we learned of it, by the database's clock: waits count from here. */
  readonly heardAt: string;
  readonly eventId: string;
  readonly outcome: 'failed' | 'requires_action';
  readonly kind: RefusalKind;
  readonly code: string | null;
};

export type Retry = {
  /** Counts from 1 for an invoice. The event id or the link's key is made of it, so that a restored backup sends the same one. */
  readonly number: number;
  readonly at: string;
  /** The kind of refusal that it follows. */
  readonly kind: RefusalKind;
  readonly means: RetryStep['do'];
  /** Who asked for it; null: the schedule. */
  readonly by: string | null;
  /** The id of the event that was made for the MoR, or our id of the payment link. */
  readonly ref: string;
  /** What was due, in smallest units. */
  readonly minor: string;
  /** Our id of the confirmed payment method that it was made for; null: it was made for none. */
  readonly method: string | null;
  /** It was taken back before it was sent, so it does not count. */
  readonly withdrawn: boolean;
};

/** A payment method of the customer, once its confirmation is known: what was refused before is tried with it once. */
export type ConfirmedMethod = {
  /** Ours, of the setup that saved it. */
  readonly id: string;
  /** When the confirmation became known, by the database's clock (ISO 8601). */
  readonly at: string;
  /** Who reported it; null: a charge that succeeded. */
  readonly by: string | null;
};

/** What followed the refusals of one invoice. */
export type RetryTrail = {
  readonly refusal: Refusal;
  readonly retries: readonly Retry[];
  /** The MoR was asked to charge again then, and has not answered; null: nothing is awaited. */
  readonly waitingSince: string | null;
  /** Stripe asked for another attempt then (`invoice.payment_attempt_required`), since the refusal; null: it did not. */
  readonly askedAt: string | null;
  /** The schedule is over; null: it goes on. `why`: what ended it before its steps were used up; null: they were. */
  readonly ended: { readonly at: string; readonly how: RetryEnd; readonly why: string | null } | null;
};

/**
 * The confirmed method with which the refused renewal has still to be tried; null: there is none. The MoR charges the newest confirmed method,
 * so whatever was ordered since the confirmation has tried it.
 */
export function untriedMethod(i: {
  readonly method: ConfirmedMethod | null;
  readonly retries: RetryTrail | null;
  readonly firstSeenAt: Date;
}): ConfirmedMethod | null {
  const { method, retries: trail } = i;
  if (method === null || trail === null) return null;
  const last = trail.retries.findLast((r) => !r.withdrawn)?.at ?? i.firstSeenAt.toISOString();
  const isOver = trail.ended !== null && trail.ended.at >= method.at;
  return last < method.at && !isOver ? method : null;
}

/**
 * Stripe asks for another attempt (`invoice.payment_attempt_required`): its own schedule is one cause of a retry. `at`: by Stripe's clock,
 * since a late delivery may speak of the refused charge.
 */
export function noteAttemptAsked(trail: RetryTrail | null, at: Date): RetryTrail | null {
  const askedAt = at.toISOString();
  return trail !== null && askedAt > (trail.askedAt ?? '') ? { ...trail, askedAt } : trail;
}

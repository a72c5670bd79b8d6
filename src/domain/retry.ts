// New tries to collect a refused renewal: the operator's schedule, and its progress for one invoice.

/**
 * A refusal's kind. `soft`: the same method may work later. `hard`: it will not, the customer must give another one.
 * `authentication`: the customer must confirm the payment.
 */
export const REFUSAL_KINDS = ['soft', 'hard', 'authentication'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

/** `charge`: ask the MoR to charge again, so long after the refusal. `link`: make a payment link, at once. */
export type RetryStep = { readonly do: 'charge'; readonly afterMs: number } | { readonly do: 'link' };

/** The fate of an invoice after every step failed. */
export const RETRY_ENDS = ['nothing', 'uncollectible', 'cancel'] as const;
export type RetryEnd = (typeof RETRY_ENDS)[number];

export const END_WORDS: Readonly<Record<RetryEnd, string>> = {
  nothing: 'the invoice stays open',
  uncollectible: 'the invoice is marked uncollectible on Stripe',
  cancel: 'the subscription is cancelled on Stripe',
};

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
  /**
   * Counts from 1 for an invoice. The event id or the link's key comes from it, so a restored backup sends the same
   * one.
   */
  readonly number: number;
  readonly at: string;
  /** The kind of refusal before it. */
  readonly kind: RefusalKind;
  readonly means: RetryStep['do'];
  /** The requester; null: the schedule. */
  readonly by: string | null;
  /** The id of the event made for the MoR, or our id of the payment link. */
  readonly ref: string;
  /** The amount due, in smallest units. */
  readonly minor: string;
  /** Our id of its confirmed payment method; null: it has none. */
  readonly method: string | null;
  /** Taken back before its sending, so it does not count. */
  readonly withdrawn: boolean;
};

/** A payment method of the customer with a known confirmation: it gets one try for each earlier refusal. */
export type ConfirmedMethod = {
  /** Ours, of its setup. */
  readonly id: string;
  /** When the confirmation became known, by the database's clock (ISO 8601). */
  readonly at: string;
  /** The reporter; null: a successful charge. */
  readonly by: string | null;
};

/** The consequences of one invoice's refusals. */
export type RetryTrail = {
  readonly refusal: Refusal;
  readonly retries: readonly Retry[];
  /** Time of the MoR's unanswered charge request; null: none. */
  readonly waitingSince: string | null;
  /** Stripe asked for another attempt then (`invoice.payment_attempt_required`), since the refusal; null: it did not. */
  readonly askedAt: string | null;
  /**
   * The end of the schedule; null: it goes on. `why`: the reason for an end before its last step; null: it used them
   * all.
   */
  readonly ended: { readonly at: string; readonly how: RetryEnd; readonly why: string | null } | null;
};

/**
 * The confirmed method still to try for the refused renewal; null: there is none. The MoR charges the newest confirmed
 * method, so any order since the confirmation has tried it.
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

// Retries of a refused renewal: the operator's schedule, and its progress for one invoice.

/**
 * The kinds of refusal. `soft`: the same payment method may work later. `hard`: only another payment method can work.
 * `authentication`: the customer must confirm the payment.
 */
export const REFUSAL_KINDS = ['soft', 'hard', 'authentication'] as const;
export type RefusalKind = (typeof REFUSAL_KINDS)[number];

/**
 * A step of the schedule. `charge`: Crossbill asks the MoR to charge again, `afterMs` after the refusal. `link`:
 * Crossbill makes a payment link at once.
 */
export type RetryStep = { readonly do: 'charge'; readonly afterMs: number } | { readonly do: 'link' };

/** How Crossbill retries: the MoR charges again, or the customer pays by a link. */
export type Means = RetryStep['do'];

/** The retry that a person may make now, or the reason against it as a sentence. */
export type RetryOffer = { readonly means: Means; readonly why: null } | { readonly means: null; readonly why: string };

/** The possible ends of the schedule for an invoice, after every step failed. */
export const RETRY_ENDS = ['nothing', 'uncollectible', 'cancel'] as const;
export type RetryEnd = (typeof RETRY_ENDS)[number];

export const END_WORDS: Readonly<Record<RetryEnd, string>> = {
  nothing: 'the invoice stays open',
  uncollectible: 'the invoice is marked uncollectible on Stripe',
  cancel: 'the subscription is cancelled on Stripe',
};

export type RetrySchedule = Readonly<Record<RefusalKind, readonly RetryStep[]>> & { readonly end: RetryEnd };

/** The MoR's newest refusal. Times are ISO 8601, since the database stores the history as JSON. */
export type Refusal = {
  /** When the MoR made the event of the refusal, by the MoR's clock. */
  readonly at: string;
  /** When Crossbill received the refusal, by the database's clock. Waits count from here. */
  readonly heardAt: string;
  readonly eventId: string;
  readonly outcome: 'failed' | 'requires_action';
  readonly kind: RefusalKind;
  readonly code: string | null;
};

export type Retry = {
  /**
   * The number of the retry; the first retry of an invoice is 1. The id of our event for the MoR, or the key of the
   * payment link, contains this number. So after a restore Crossbill sends the same request again.
   */
  readonly number: number;
  readonly at: string;
  /** The kind of the refusal before this retry. */
  readonly kind: RefusalKind;
  readonly means: RetryStep['do'];
  /** The requester of the retry. Null: the schedule made it. */
  readonly by: string | null;
  /** The id of our event for the MoR, or our id of the payment link. */
  readonly ref: string;
  /** The amount due, in smallest units. */
  readonly minor: string;
  /** Our id of the customer's confirmed payment method. Null: the retry uses none. */
  readonly method: string | null;
  /** True: Crossbill took the retry back before sending it, so it does not count. */
  readonly withdrawn: boolean;
};

/** A payment method confirmed by the customer. Crossbill tries the method one time for each renewal refused before. */
export type ConfirmedMethod = {
  /** Our id of the payment method's setup. */
  readonly id: string;
  /** When Crossbill learned of the confirmation, by the database's clock (ISO 8601). */
  readonly at: string;
  /** Who reported the confirmation. Null: a successful charge proves it. */
  readonly by: string | null;
};

/** The latest refusal of a charge of the invoice, and all retries so far. */
export type RetryHistory = {
  readonly refusal: Refusal;
  readonly retries: readonly Retry[];
  /** When Crossbill requested a charge that has no verdict yet. Null: Crossbill waits for no verdict. */
  readonly waitingSince: string | null;
  /**
   * When Stripe asked for another attempt after the refusal (`invoice.payment_attempt_required`). Null: Stripe has not
   * asked.
   */
  readonly askedAt: string | null;
  /**
   * How the schedule ended. Null: the schedule goes on. `why`: the reason for an end before the last step; null: every
   * step was used.
   */
  readonly ended: { readonly at: string; readonly how: RetryEnd; readonly why: string | null } | null;
};

/**
 * The confirmed payment method to try next for the refused renewal. Null: there is none. The MoR always charges the
 * method confirmed last. So if Crossbill requested a charge after the confirmation, the MoR has already tried the
 * method.
 */
export function untriedMethod(invoice: {
  readonly method: ConfirmedMethod | null;
  readonly retries: RetryHistory | null;
  readonly firstSeenAt: Date;
}): ConfirmedMethod | null {
  const { method, retries: history } = invoice;
  if (method === null || history === null) return null;
  const last = history.retries.findLast((r) => !r.withdrawn)?.at ?? invoice.firstSeenAt.toISOString();
  const isOver = history.ended !== null && history.ended.at >= method.at;
  return last < method.at && !isOver ? method : null;
}

/**
 * Records Stripe's request for another attempt (`invoice.payment_attempt_required`). `at` is Stripe's time of the
 * request, not the time of arrival: a request that arrives late may ask for an attempt that the MoR has already
 * refused.
 */
export function noteAttemptAsked(history: RetryHistory | null, at: Date): RetryHistory | null {
  const askedAt = at.toISOString();
  return history !== null && askedAt > (history.askedAt ?? '') ? { ...history, askedAt } : history;
}

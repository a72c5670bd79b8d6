// The plan of the day benchmark: the fate of each renewal, and the due time of each of its events. Pure functions:
// every process of the benchmark calculates the same plan.

export type Plan = {
  readonly renewals: number;
  readonly dayMs: number;
};

/** `soft` and `hard`: the kind of decline of the first charge. */
export type Fate = 'paid' | 'soft' | 'hard';

/** Of a hundred renewals the bank declines five temporarily and one for good; three get a dispute and two a refund. */
export function fateOf(index: number): Fate {
  const part = index % 100;
  return part < 5 ? 'soft' : part === 5 ? 'hard' : 'paid';
}

export const isDisputed = (index: number): boolean => index % 100 >= 10 && index % 100 < 13;

/** A third of the disputes is still open at the end of the day. */
export function outcomeOf(index: number): 'won' | 'lost' | null {
  const part = Math.floor(index / 100) % 3;
  return part === 0 ? null : part === 1 ? 'won' : 'lost';
}

export const AMOUNT = 2990;

/** The amount to refund in minor units. Null: no refund. Half of the refunds are partial. */
export function refundOf(index: number): number | null {
  return index % 100 === 20 ? 1_000 : index % 100 === 21 ? AMOUNT : null;
}

/** The MoR charges a softly declined renewal at most this often, including the first charge. */
export const MOST_TRIES = 3;

/**
 * True if the charge succeeds.
 * @param tries 0 for the first charge, then the number of the retry
 */
export function isCharged(index: number, tries: number): boolean {
  const fate = fateOf(index);
  if (fate !== 'soft') return fate === 'paid';
  return tries === 1 ? index % 2 === 0 : tries === 2 && index % 4 === 1;
}

/**
 * The time of each kind of event, from begin to end, as fractions of the day. Within this time the renewals come in
 * order. The events of one renewal come in order too.
 */
const STREAMS = { created: [0, 0.1], finalized: [0.02, 0.13], verdict: [0.04, 0.2] } as const;
export type Stream = keyof typeof STREAMS;

/** The due time in milliseconds since the day began: a random moment in the renewal's own slot of the stream's time. */
export function dueMs({ renewals, dayMs }: Plan, stream: Stream, index: number): number {
  const [from, to] = STREAMS[stream];
  return dayMs * (from + ((to - from) * (index + within(index))) / renewals);
}

/** A number from 0 to 1, always the same for the same renewal. */
function within(index: number): number {
  return ((Math.imul(index + 1, 2_654_435_761) >>> 0) % 1_000) / 1_000;
}

/** The pause between a cause and its event, as a fraction of the day: here from a decline to the retry. */
export const RETRY_AFTER = 0.05;
export const REFUND_AFTER = 0.02;
export const DISPUTE_AFTER = 0.03;
export const OUTCOME_AFTER = 0.06;
/** The time verify begins, as a fraction of the day. */
export const VERIFY_AT = 0.5;
export const RECEIVER_WELL_AT = 0.75;

export type Totals = Readonly<
  Record<'paid' | 'uncollectible' | 'retries' | 'disputes' | 'lost' | 'refunds' | 'refunded', number>
>;

/** The expected totals at the end, when no work is left. */
export function totalsOf(renewals: number): Totals {
  const t = { paid: 0, uncollectible: 0, retries: 0, disputes: 0, lost: 0, refunds: 0, refunded: 0 };
  for (let k = 0; k < renewals; k++) {
    const most = fateOf(k) === 'soft' ? MOST_TRIES : 1;
    let tries = 0;
    while (tries < most && !isCharged(k, tries)) tries++;
    t.retries += Math.min(tries, most - 1);
    if (tries < most) t.paid++;
    else t.uncollectible++;
    if (isDisputed(k)) {
      t.disputes++;
      if (outcomeOf(k) === 'lost') t.lost++;
    }
    const refund = refundOf(k);
    if (refund !== null) {
      t.refunds++;
      t.refunded += refund;
    }
  }
  return t;
}

/**
 * The requests to Stripe per renewal: a read of the subscription, a read of the invoice, a report, an attachment, and
 * on average 0.2 of further kinds.
 */
const REQUESTS = 4.2;
/** The daemon may use this fraction of the day for all marks. */
const DRAIN_PART = 0.7;
/** Stripe's limit for a live account, in requests per second. */
export const LIVE_LIMIT = 100;

/** The value of STRIPE_MAX_RPS: enough to drain the burst within the day, and at least Stripe's live limit. */
export function budgetFor({ renewals, dayMs }: Plan): number {
  return Math.max(LIVE_LIMIT, Math.ceil((REQUESTS * renewals) / ((dayMs / 1_000) * DRAIN_PART)));
}

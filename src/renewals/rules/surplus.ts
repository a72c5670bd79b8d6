// More taken for an invoice than was due: a credit note, or another payment, came between our look at it and our mark.
import { showMoney } from '../../domain/money.js';
import { type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../domain/lane/change.js';
import { effectName } from '../../domain/lane/payment.js';

/** Told once per amount, however often it is reported: by the answer to the mark, by `invoice.overpaid`, by a read. */
export function settleSurplus(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null) return s;
  const told = surplusOf(s);
  const subject = told === null ? null : `${prefixOf(s)}${told.minor}`;
  const state = closeReviews(s, ctx, (r) => isSurplus(s, r) && r.subject !== subject, {
    by: null,
    resolution: 'cleared',
    note: 'the surplus is gone or has changed',
  });
  if (told === null || subject === null || state.reviews.some((r) => r.subject === subject && isDecided(r)))
    return state;
  const show = (minor: bigint): string => showMoney({ minor, currency: i.currency ?? '' });
  const paid = told.by.map((p) => `${show(p.amount ?? 0n)} (payment ${effectName(p)})`).join(' and ');
  const surplus = show(told.minor);
  return openReview(state, ctx, {
    kind: 'amount_mismatch',
    subject,
    paymentRowId: told.by.at(-1)?.id ?? null,
    summary: `the invoice is overpaid by ${surplus}: ${paid === '' ? 'the MoR took nothing for it' : `${paid} was taken`}, ${show(i.amountDue ?? 0n)} was due`,
    proposal: told.credited
      ? `Refund ${surplus} and deduct it from the customer's balance on Stripe, or apply this: Stripe keeps it as the customer's credit.`
      : `Refund ${surplus}, or apply this and credit the customer: Stripe shows only what was due as paid.`,
  });
}

/** What the refund of a surplus gives back; null: the item is of another kind. */
export function surplusToRefund(s: LaneState, r: ReviewRow): bigint | null {
  return isSurplus(s, r) ? (surplusOf(s)?.rest ?? 0n) : null;
}

export function isSurplus(s: LaneState, r: ReviewRow): boolean {
  return r.kind === 'amount_mismatch' && r.subject.startsWith(prefixOf(s));
}

function prefixOf(s: LaneState): string {
  return `${s.lane}:overpaid:`;
}

/** A person has said what becomes of it. */
function isDecided(r: ReviewRow): boolean {
  return r.resolution === 'apply' || r.resolution === 'refund' || r.resolution === 'dismiss';
}

type Surplus = {
  readonly minor: bigint;
  /** What of it was not given back since. */
  readonly rest: bigint;
  readonly by: readonly PaymentRow[];
  /** Stripe put it on the customer's balance. */
  readonly credited: boolean;
};

function surplusOf(s: LaneState): Surplus | null {
  const i = s.invoice;
  const by = s.payments
    .filter((p) => p.mark === 'confirmed' && p.amount !== null)
    .toSorted((a, b) => (a.succeededAt?.getTime() ?? 0) - (b.succeededAt?.getTime() ?? 0) || (a.id < b.id ? -1 : 1));
  // Whoever applied a payment of more than was due has decided already.
  if (i === null || by.some((p) => p.waived.includes('surplus'))) return null;
  const credited = i.amountOverpaid ?? 0n;
  const minor = credited > 0n ? credited : notShown(s, by);
  const rest = minor - by.reduce((sum, p) => sum + p.amountRefunded, 0n);
  return minor > 0n && rest > 0n ? { minor, rest, by, credited: credited > 0n } : null;
}

/**
 * Out of band Stripe takes what is due for paid, whatever was taken. Event shapes of before 2025-03-31 count such money as nothing
 * paid, which tells nothing.
 */
function notShown({ invoice }: LaneState, by: readonly PaymentRow[]): bigint {
  const shown = invoice?.amountPaid ?? 0n;
  if (invoice?.platformStatus !== 'paid' || shown <= 0n || !by.some((p) => p.markMode === 'out_of_band')) return 0n;
  const taken = by.reduce((sum, p) => sum + (p.amount ?? 0n), 0n);
  return taken > shown ? taken - shown : 0n;
}

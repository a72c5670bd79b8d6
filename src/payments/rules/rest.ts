// A rest that is still due after the mark: the invoice changed while it was being marked.
import { type InvoiceRow, type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Ctx, openReview } from '../../engine/change.js';
import { type SettleRule } from '../../engine/subject.js';
import { isPayable } from '../../domain/status.js';

/** A person is told, unless they let a part through themselves. Who applied more than was due let no part through. */
export function tellRest(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  const i = s.invoice;
  const isPart = p.waived.includes('amount_mismatch') && !p.waived.includes('surplus');
  if (i === null || i.platformStatus === 'paid' || i.amountRemaining === 0n || isPart) return s;
  return openReview(s, ctx, {
    kind: 'amount_mismatch',
    subject: p.id,
    paymentRowId: p.id,
    fact: {
      code: 'rest-due',
      status: i.platformStatus,
      due: { minor: i.amountRemaining ?? 0n, currency: p.currency },
    },
  });
}

/**
 * Out of band Stripe takes all that is due for paid: more became due between our read and our mark, and nobody took it. `before`: the
 * invoice as it was known before; where that shows the mark already, as after a lost answer, `outOfBand` or what other payments settled of it.
 */
export function tellBeyond(
  s: LaneState,
  p: PaymentRow,
  before: InvoiceRow | null,
  outOfBand: bigint | undefined,
  ctx: Ctx,
): LaneState {
  const is = s.invoice?.amountPaid ?? 0n;
  const known = before?.amountPaid ?? 0n;
  const others = s.payments.filter((x) => x.id !== p.id && x.mark === 'confirmed');
  const was = known < is ? known : others.reduce((sum, x) => sum + (x.amount ?? 0n), 0n);
  const took = outOfBand ?? is - was;
  if (p.markMode !== 'out_of_band' || p.amount === null || took <= p.amount) return s;
  const { amount, currency } = p;
  return openReview(s, ctx, {
    kind: 'amount_mismatch',
    subject: p.id,
    paymentRowId: p.id,
    fact: { code: 'marked-beyond', shown: { minor: took, currency }, taken: { minor: amount, currency } },
  });
}

/** What is still due is told again when what a person chose for it came to nothing: they looked again, or the refund was not made. */
export const settleRest: SettleRule = (s, ctx) => {
  const i = s.invoice;
  // Without a read, the one that a look asks for (mark-review.ts) is on its way.
  if (i === null || i.readAt === null) return s;
  const tell = isPayable(i) ? tellRest : tellBeyondAgain;
  return s.payments.reduce(
    (state, p) => (p.mark === 'confirmed' && cameToNothing(s, p) ? tell(state, p, ctx) : state),
    s,
  );
};

/** Nothing that a look shows makes up for it: Stripe took more for paid than was taken, and keeps it so. */
function tellBeyondAgain(s: LaneState, p: PaymentRow, ctx: Ctx): LaneState {
  const item = s.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === p.id);
  if (item?.fact.code !== 'marked-beyond') return s;
  const { subject, paymentRowId, fact } = item;
  return openReview(s, ctx, { kind: 'amount_mismatch', subject, paymentRowId, fact });
}

function cameToNothing(s: LaneState, p: PaymentRow): boolean {
  const chosen = s.reviews.findLast((r) => r.kind === 'amount_mismatch' && r.subject === p.id)?.resolution;
  const refund = s.refunds.findLast((r) => r.paymentRowId === p.id);
  return chosen === 'retry' || (chosen === 'refund' && refund?.status === 'failed');
}

// A payment that the MoR called taken and, later by its own clock, refused. It has no event of its own for a returned bank debit, and may
// report one this way.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Ctx, openReview } from '../../engine/change.js';
import { effectName } from '../../domain/payment-name.js';

type Refusal = Pick<PaymentRow, 'verdictAt' | 'declineCode'>;

/** Asks a person when the MoR refused the payment after it had taken it, in whatever order the two came. Nothing is undone. */
export function refusedSince(s: LaneState, p: PaymentRow | undefined, refusal: Refusal, ctx: Ctx): LaneState {
  const { verdictAt, declineCode } = refusal;
  if (p === undefined || p.succeededAt === null || verdictAt === null) return s;
  if (verdictAt.getTime() <= p.succeededAt.getTime()) return s; // an earlier try
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: p.id,
    paymentRowId: p.id,
    fact: {
      code: 'refused-after',
      payment: p.origin === 'signup' ? null : effectName(p),
      charge: p.processorChargeId,
      takenAt: p.succeededAt.toISOString(),
      refusedAt: verdictAt.toISOString(),
      reason: declineCode,
    },
  });
}

// A payment that the MoR called taken and, later by its own clock, refused. It has no event of its own for a returned bank debit, and may
// report one this way.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Ctx, openReview } from '../../engine/change.js';
import { effectName } from '../../domain/payment-name.js';
import { showTime } from '../../domain/show-time.js';

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
    summary: `${named(p)} was taken at ${showTime(p.succeededAt)}, but the MoR refused it after that, at ${showTime(verdictAt)}: ${declineCode ?? 'no reason given'}`,
    proposal:
      'Ask the MoR whether it still has the money. If a bank debit was returned, record that on the page of the payment. The invoice stays as it is until a person changes it on Stripe.',
  });
}

const named = (p: PaymentRow): string =>
  p.origin === 'signup' ? `charge ${p.processorChargeId ?? ''} of a signup` : `payment ${effectName(p)}`;

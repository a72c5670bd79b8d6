// A draft that counts as stuck: Stripe could not finalize it, or nobody does while money waits.
import { type InvoiceRow, type LaneState, type PaymentRow } from '../../domain/model.js';
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { DRAFT_PATIENCE_MS } from '../../policy.js';

export function watchFinalization(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null) return s;
  if (i.platformStatus !== 'draft') {
    return closeReviews(s, ctx, (r) => r.kind === 'finalization_failed', {
      by: null,
      resolution: 'cleared',
      note: `the invoice is ${i.platformStatus}`,
    });
  }
  if (i.finalizationError === null) return watchDraft(s, i, ctx);
  return openReview(s, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    fact: { code: 'finalization-failed', invoice: i.invoiceId, said: i.finalizationError },
  });
}

/** Money that waits for a draft which nobody makes final. */
function watchDraft(s: LaneState, i: InvoiceRow, ctx: Ctx): LaneState {
  const late = (p: PaymentRow): boolean => ctx.now.getTime() - p.recordedAt.getTime() >= DRAFT_PATIENCE_MS;
  const p = s.payments.find((x) => x.mark === 'held' && x.amount !== null && late(x));
  if (p === undefined || p.amount === null) return s;
  return openReview(s, ctx, {
    kind: 'finalization_failed',
    subject: i.invoiceId,
    paymentRowId: p.id,
    fact: {
      code: 'draft-waits',
      taken: { minor: p.amount, currency: p.currency },
      since: p.recordedAt.toISOString(),
    },
  });
}

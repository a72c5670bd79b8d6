// A returned debit at rest: the item that puts the question on Stripe to a person. The books are book-losses.ts's.
import { closeReviews, type Ctx, openReview } from '../../domain/lane/change.js';
import { type LaneState } from '../../domain/model.js';
import { showMoney } from '../../domain/money.js';
import { type MorObjectRow } from '../../domain/mor-object.js';

/** The return of a payment that stands; undefined: its money is there, as far as anyone said. */
export function returnOf(s: LaneState, paymentRowId: string): MorObjectRow | undefined {
  return s.objects.find((o) => o.kind === 'debit_return' && o.paymentRowId === paymentRowId && o.status === 'returned');
}

/** Whether the customer is billed again or the loss is written off is a person's decision: nothing is changed on Stripe. */
export function settleReturn(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || o.amount === null || o.currency === null) return s;
  const what = `${showMoney({ minor: o.amount, currency: o.currency })} of payment ${p.paymentId ?? p.id}`;
  const about = { kind: 'debit_returned' as const, paymentRowId: p.id };
  if (o.status === 'returned') {
    const marked = p.mark === 'confirmed' ? `invoice ${o.invoiceId} is still paid on Stripe` : 'nothing was marked';
    return openReview(s, ctx, {
      ...about,
      subject: o.id,
      summary: `the bank returned the debit: ${what} is lost, and ${marked}`,
      proposal:
        'Decide what the customer owes: bill again with a new invoice on Stripe, or write the loss off with a credit note there. Neither is done by itself. Dismiss this item when it is done.',
    });
  }
  const dealt = s.reviews.some((r) => r.kind === 'debit_returned' && r.subject === o.id && r.resolution === 'dismiss');
  if (dealt) {
    return openReview(s, ctx, {
      ...about,
      subject: `${o.id}:undone`,
      summary: `the return of ${what} was recorded, dealt with, and undone since`,
      proposal:
        'The loss is taken back in the ledger. If the customer was billed again or got a credit note meanwhile, decide which of the two stands.',
    });
  }
  const why = 'the return was undone';
  return closeReviews(s, ctx, (r) => r.kind === 'debit_returned' && r.subject === o.id, {
    by: null,
    resolution: 'cleared',
    note: why,
  });
}

// A returned debit at rest: the item that puts the question on Stripe to a person. The books are book-losses.ts's.
import { closeReviews, type Ctx, openReview } from '../../engine/change.js';
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { type Apart } from '../../domain/facts/parts.js';
import { type Money } from '../../domain/money.js';
import { lostOf, type MorObjectRow } from '../../domain/mor-object.js';

/** The return of a payment that stands; undefined: its money is there, as far as anyone said. */
export function returnOf(s: LaneState, paymentRowId: string): MorObjectRow | undefined {
  return s.objects.find((o) => o.kind === 'debit_return' && o.paymentRowId === paymentRowId && o.status === 'returned');
}

/**
 * Whether the customer is billed again or the loss is written off is a person's decision: nothing is changed on Stripe. `apart`: what is to be
 * said of money that was not marked on its invoice; null: it was.
 */
export function settleReturn(s: LaneState, o: MorObjectRow, ctx: Ctx, apart: Apart = null): LaneState {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || o.amount === null || o.currency === null) return s;
  const of = { payment: p.paymentId ?? p.id, amount: { minor: o.amount, currency: o.currency } };
  const about = { kind: 'debit_returned' as const, paymentRowId: p.id };
  if (o.status === 'returned') {
    const state = tellTwice(s, o, p, ctx);
    // It is looked at again (a retry of its own item): what was said of it holds until that is decided.
    if (p.mark === 'waiting' && s.reviews.some((r) => r.kind === about.kind && r.subject === o.id)) return state;
    const marked = p.mark === 'confirmed';
    return openReview(state, ctx, {
      ...about,
      subject: o.id,
      fact: { code: 'debit-returned', ...of, invoice: o.invoiceId, marked, apart },
    });
  }
  const why = 'the return was undone';
  const state = close(s, [twiceOf(o)], why, ctx);
  const dealt = s.reviews.some((r) => r.kind === 'debit_returned' && r.subject === o.id && r.resolution === 'dismiss');
  if (dealt) {
    return openReview(state, ctx, {
      ...about,
      subject: `${o.id}:undone`,
      fact: { code: 'return-undone', ...of },
    });
  }
  return close(state, [o.id], why, ctx);
}

/**
 * A payment is never lost twice in the books (disputes/rules/book-losses.ts): a refund that becomes known after the return was recorded
 * takes of its loss, and so does an older dispute. Somebody must know, also when the return itself was dealt with.
 */
function tellTwice(s: LaneState, o: MorObjectRow, p: PaymentRow, ctx: Ctx): LaneState {
  const booked = BigInt(o.detail.loss?.minor ?? '0');
  const subject = twiceOf(o);
  if (o.amount === null || booked >= o.amount) return close(s, [subject], 'nothing of it was given back as well', ctx);
  const sum = (minor: bigint): Money => ({ minor, currency: p.currency });
  return openReview(s, ctx, {
    kind: 'debit_returned',
    paymentRowId: p.id,
    subject,
    fact: {
      code: 'returned-twice',
      payment: p.paymentId ?? p.id,
      got: sum(o.amount - booked),
      booked: sum(booked),
      how: lostOf(p.id, s.objects) > 0n ? 'refunded-or-lost' : 'refunded',
    },
  });
}

const twiceOf = (o: MorObjectRow): string => `${o.id}:twice`;

function close(s: LaneState, subjects: readonly string[], why: string, ctx: Ctx): LaneState {
  return closeReviews(s, ctx, (r) => r.kind === 'debit_returned' && subjects.includes(r.subject), {
    by: null,
    resolution: 'cleared',
    note: why,
  });
}

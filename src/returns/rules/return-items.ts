// The items of a returned debit, which put the question on Stripe to a person. The books are book-losses.ts's.
import { offersOf } from './credit-loss.js';
import { type LaneRows, type LaneState, type PaymentRow, type ReviewRow } from '../../domain/model.js';
import { type Apart } from '../../domain/facts/parts.js';
import { type Money } from '../../domain/money.js';
import { lostOf, type MorObjectRow, returnOf } from '../../domain/mor-object.js';
import { type Holds, itemRule } from '../../engine/items.js';
import { mayHaveSettled } from '../../engine/payment.js';

type Codes = 'debit-returned' | 'return-undone' | 'returned-twice';

/**
 * What is to be said of money that was not marked on its invoice; null: it was. `for-nothing`: a double payment, or one of a void invoice:
 * the customer had no invoice settled by it, and owes nothing for its loss. `maybe-for-nothing`: somebody may have marked the invoice by hand
 * for it, or the MoR may have named one charge twice. `not-booked`: the event names none of two payments, or its payment was never told of,
 * or its charge is booked for another invoice.
 */
export function apartOf(s: LaneRows, o: MorObjectRow): Apart {
  const p = s.payments.find((x) => x.id === o.paymentRowId);
  if (p === undefined || p.succeededAt === null || p.amount === null) return 'not-booked';
  if (p.mark !== 'parked' && p.mark !== 'closed') return null;
  return mayHaveSettled(s, p) ? 'maybe-for-nothing' : 'for-nothing';
}

const UNDONE = 'the return was undone';
const clears = {
  'debit-returned': UNDONE,
  'return-undone': 'the return stands',
  'returned-twice': (lane: LaneRows, { paymentRowId }: ReviewRow) =>
    returnOf(lane, paymentRowId) === undefined ? UNDONE : 'nothing of it was given back as well',
};

/** Whether the customer is billed again or the loss is written off is a person's decision: nothing is changed on Stripe. */
export const returnItems = itemRule<Codes>(clears, function* (lane) {
  const s = lane.toState();
  for (const o of s.objects) {
    const p = s.payments.find((x) => x.id === o.paymentRowId);
    if (o.kind !== 'debit_return' || p === undefined || o.amount === null || o.currency === null) continue;
    const about = { kind: 'debit_returned', about: o } as const;
    const of = { payment: p.paymentId ?? p.id, amount: { minor: o.amount, currency: o.currency } };
    const told = s.reviews.filter((r) => r.topic === 'debit-returned' && r.subject === o.id);
    if (o.status !== 'returned') {
      const dealt = told.some((r) => r.resolution === 'dismiss');
      if (dealt) yield { ...about, fact: { code: 'return-undone', ...of } };
      continue;
    }
    const twice = twiceOf(s, o, p, o.amount);
    if (twice !== null) yield { ...about, fact: twice };
    // It is looked at again (a retry of its own item): what was said of it holds until that is decided.
    const before = p.mark === 'waiting' ? told.at(-1)?.fact : undefined;
    const marked = p.mark === 'confirmed';
    const now = { code: 'debit-returned', ...of, invoice: o.invoiceId, marked, apart: apartOf(s, o) } as const;
    yield { ...about, fact: before?.code === 'debit-returned' ? before : now, ...offersOf(s, o, lane.ctx) };
  }
});

/**
 * A payment is never lost twice in the books (disputes/rules/book-losses.ts): a refund that becomes known after the return was recorded
 * takes of its loss, and so does an older dispute. Somebody must know, also when the return itself was dealt with.
 */
function twiceOf(s: LaneState, o: MorObjectRow, p: PaymentRow, amount: bigint): Holds<'returned-twice'>['fact'] | null {
  const booked = BigInt(o.detail.loss?.minor ?? '0');
  if (booked >= amount) return null;
  const how = lostOf(p.id, s.objects) > 0n ? 'refunded-or-lost' : 'refunded';
  const sum = (minor: bigint): Money => ({ minor, currency: p.currency });
  const payment = p.paymentId ?? p.id;
  return { code: 'returned-twice', payment, got: sum(amount - booked), booked: sum(booked), how };
}

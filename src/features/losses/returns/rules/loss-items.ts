// The items for lost disputes and returned debits.
import { itemRule, type Holds } from '../../../../engine/items.js';
import { objectId, type MorObjectRow, lostOf } from '../../../../shared/domain/mor-object.js';
import { disputedOf, unreadSum } from '../../../../shared/domain/dispute-sum.js';
import { offersOf } from './credit.js';
import { type FactOf } from '../../../../shared/domain/fact.js';
import { type Disputed, type Apart } from '../../../../shared/domain/facts/parts.js';
import { type LaneRows } from '../../../../shared/domain/model.js';
import { type PaymentRow } from '../../../../shared/domain/payment-row.js';
import { type Money } from '../../../../shared/domain/money.js';
import { paymentName } from '../../../../shared/domain/payment-name.js';
import { mayHaveSettled } from '../../../../core/books/rules/same-payment.js';

/** Items for a lost dispute, and for a win after a person dismissed the item about the loss. */
export const lostDisputes = itemRule(
  {
    'dispute-lost': 'the dispute was won, or its amount became unclear',
    'loss-unread': 'the dispute was won, or its amount is clear now',
    'won-after-loss': 'the dispute was lost',
  },
  function* (lane) {
    for (const o of lane.objects) {
      if (o.kind !== 'dispute') continue;
      const dispute = objectId(o);
      const { outcomeHeardAt, loss } = o.detail;
      const booked = loss !== undefined;
      const dealt = lane.reviews.filter(
        (r) => r.kind === 'dispute' && r.subject === `${dispute}:lost` && r.resolution === 'dismiss',
      );
      // True if a person dismissed the item about this loss while the ledger did not have the loss.
      const beside = dealt.some(
        ({ fact }) => fact.code === 'loss-unread' || ('apart' in fact && fact.apart === 'not-booked'),
      );
      // The bank may decide a dispute again. A dismissal counts only for the present outcome, not for an earlier one.
      const since = outcomeHeardAt === undefined ? null : new Date(outcomeHeardAt);
      const about = { kind: 'dispute', about: o, since } as const;
      const lost = { ...about, subject: `${dispute}:lost` };
      if (o.status === 'won' && dealt.length > 0) {
        const fact = { code: 'won-after-loss', dispute, reversed: booked, beside, ...disputedOf(lane, o) } as const;
        yield { ...about, subject: `${dispute}:won`, fact };
      }
      if (o.status !== 'lost') continue;
      const p = lane.payments.find((x) => x.id === o.paymentRowId);
      const unread = unreadSum(o, p);
      const apart = apartOf(lane, o, lost.subject);
      if (unread !== null) {
        const sums = { unread, takenBack: booked, refunded: (p?.amountRefunded ?? 0n) > 0n };
        yield { ...lost, fact: { code: 'loss-unread', dispute, ...sums, apart } };
      } else {
        const bookedSince = beside && BigInt(loss?.minor ?? 0) > 0n;
        const fact = { code: 'dispute-lost', dispute, ...takenOf(lane, o, p), bookedSince, apart } as const;
        yield { ...lost, fact, ...offersOf(lane, o) };
      }
    }
  },
);

type Taken = Pick<FactOf<'dispute-lost'>, 'twice'> & Disputed;

/**
 * The amount the bank took, at most the payment. If the ledger has a smaller loss, the customer got the difference
 * twice: from the bank, and by a refund or another dispute. If the payment is unknown, this is the MoR's amount of the
 * dispute.
 */
function takenOf(lane: LaneRows, object: MorObjectRow, payment: PaymentRow | undefined): Taken {
  if (payment === undefined || payment.succeededAt === null || payment.amount === null)
    return { ...disputedOf(lane, object), twice: null };
  const sum = (minor: bigint): Money => ({ minor, currency: payment.currency });
  const booked = object.detail.loss?.of === payment.id ? BigInt(object.detail.loss.minor) : 0n;
  const taken = takenBy(lane, object, payment, { amount: payment.amount, booked });
  if (booked >= taken) return { amount: sum(booked), unread: null, twice: null };
  const how = payment.amountRefunded > 0n ? 'refunded' : 'taken-back';
  const twice = { payment: paymentName(payment), how, got: sum(taken - booked), booked: sum(booked) } as const;
  return { amount: sum(taken), unread: null, twice };
}

/**
 * The amount the bank took: the MoR's amount, at most the payment. If the MoR names no amount, the bank took what the
 * MoR had not refunded on the day of the loss. That is the booked loss plus all refunds since. Without a booked loss,
 * the bank may have taken the whole payment.
 */
function takenBy(
  lane: LaneRows,
  object: MorObjectRow,
  payment: PaymentRow,
  { amount, booked }: { readonly amount: bigint; readonly booked: bigint },
): bigint {
  const least = (one: bigint, other: bigint): bigint => (one < other ? one : other);
  if (object.amount !== null && object.currency === payment.currency) return least(object.amount, amount);
  if (booked === 0n) return amount;
  const decidedAt = new Date(object.detail.outcomeAt ?? object.createdAt);
  const since = lane.refunds
    .filter((r) => r.paymentRowId === payment.id && r.succeededAt !== null && r.succeededAt > decidedAt)
    .reduce((sum, r) => sum + r.amount, 0n);
  return least(booked + since, amount);
}

/**
 * Why the lost payment does not settle its invoice. Null: the payment does settle it.
 * - `for-nothing`: the invoice was paid twice or is void, so the customer owes nothing for the loss.
 * - `maybe-for-nothing`: perhaps a person marked the invoice by hand for this payment, or the MoR reported one charge
 * under two ids.
 * - `not-booked`: Crossbill does not know the payment, for example because the event names neither of two payments, or
 * the payment's charge counts for another invoice.
 */
function apartOf(lane: LaneRows, object: MorObjectRow, subject: string): Apart {
  const p = lane.payments.find((x) => x.id === object.paymentRowId);
  if (p === undefined || p.succeededAt === null || p.amount === null) return 'not-booked';
  if (p.mark === 'parked' || p.mark === 'closed') return mayHaveSettled(lane, p) ? 'maybe-for-nothing' : 'for-nothing';
  // A person may have chosen `retry`, and Crossbill may still be checking the payment again. Until then the item keeps
  // its reason.
  const reported = lane.reviews.findLast((r) => r.subject === subject && 'apart' in r.fact)?.fact;
  const before = reported !== undefined && 'apart' in reported ? reported.apart : null;
  return p.mark === 'confirmed' || before === 'not-booked' ? null : before;
}

const clears = {
  'debit-returned': 'somebody undid the return',
  'return-undone': 'somebody recorded the return again',
  'returned-twice': 'somebody undid the return, or the customer got no part of it twice',
};

/**
 * Items for returned debits. A person decides whether to bill the customer again or to write the loss off, so Crossbill
 * changes nothing on Stripe.
 */
export const returnedDebits = itemRule(clears, function* (lane) {
  for (const o of lane.objects) {
    const p = lane.payments.find((x) => x.id === o.paymentRowId);
    if (o.kind !== 'debit_return' || p === undefined || o.amount === null || o.currency === null) continue;
    const about = { kind: 'debit_returned', about: o } as const;
    const of = { payment: paymentName(p), amount: { minor: o.amount, currency: o.currency } };
    if (o.status !== 'returned') {
      const dealt = lane.reviews.some(
        (r) => r.topic === 'debit-returned' && r.subject === o.id && r.resolution === 'dismiss',
      );
      if (dealt) yield { ...about, fact: { code: 'return-undone', ...of } };
      continue;
    }
    const twice = twiceOf(lane, o, p, o.amount);
    if (twice !== null) yield { ...about, fact: twice };
    const stands = { invoice: o.invoiceId, marked: p.mark === 'confirmed', apart: apartOf(lane, o, o.id) };
    yield { ...about, fact: { code: 'debit-returned', ...of, ...stands }, ...offersOf(lane, o) };
  }
});

/**
 * The fact of an item, if the customer got a part of the money twice: from the bank, and by a refund or an older
 * dispute. Null: no part twice. Losses and refunds in the ledger never exceed the payment (postLosses). So if the
 * booked loss is smaller than the returned amount, the customer got the difference twice. The item opens even after a
 * person dismissed the item about the return.
 */
function twiceOf(
  lane: LaneRows,
  object: MorObjectRow,
  paymentRow: PaymentRow,
  amount: bigint,
): Holds<'returned-twice'>['fact'] | null {
  const booked = BigInt(object.detail.loss?.minor ?? '0');
  if (booked >= amount) return null;
  const how = lostOf(paymentRow.id, lane.objects) > 0n ? 'refunded-or-lost' : 'refunded';
  const sum = (minor: bigint): Money => ({ minor, currency: paymentRow.currency });
  const payment = paymentName(paymentRow);
  return { code: 'returned-twice', payment, got: sum(amount - booked), booked: sum(booked), how };
}

// Money lost to banks in a dispute or a returned debit: the ledger entries, and an item for a person.
import { type Mutable } from '../../../../shared/domain/row.js';
import { disputedOf, unreadSum } from '../../../../shared/domain/dispute-sum.js';
import { type FactOf } from '../../../../shared/domain/fact.js';
import { type Apart, type Disputed } from '../../../../shared/domain/facts/parts.js';
import { type LaneRows, type LedgerEntry, type PaymentRow } from '../../../../shared/domain/model.js';
import { type Money, showMoney } from '../../../../shared/domain/money.js';
import { lostOf, type MorObjectRow, objectId } from '../../../../shared/domain/mor-object.js';
import { paymentName } from '../../../../shared/domain/payment-name.js';
import { type Lane } from '../../../../engine/lane.js';
import { type Holds, itemRule } from '../../../../engine/items.js';
import { mayHaveSettled } from '../../../../core/books/rules/same-payment.js';
import {
  debitReturned,
  debitReturnReversed,
  disputeLost,
  disputeReversed,
} from '../../../../shared/domain/postings.js';
import { offersOf } from './credit.js';

/**
 * Brings the ledger's losses up to date. The order of the events does not matter: refunds reduce the payment first, a
 * loss takes the rest, and a won dispute or an undone return has no loss. An entry never changes, so Crossbill books each
 * difference as a further entry.
 */
export function postLosses(lane: Lane): void {
  const wanted = lossesOf(lane);
  const all = lane.objects.filter((o) => o.kind === 'dispute' || o.kind === 'debit_return');
  // Won disputes and undone returns come first, then new losses, then losses already in the ledger.
  for (const o of all.toSorted((x, y) => turnOf(x) - turnOf(y))) {
    const { loss } = o.detail;
    const to = wanted.get(o.id);
    const had = loss === undefined ? 0n : BigInt(loss.minor);
    const before = lane.findPayment(loss?.of);
    if (before !== undefined && to !== undefined && before.id !== to.payment.id) {
      // Crossbill booked the loss for another payment. It now moves the loss to the right payment, with two entries in
      // the same month.
      move(lane, o, { payment: before, minor: -had, movedAt: lane.now });
      move(lane, o, { payment: to.payment, minor: to.minor, movedAt: lane.now });
      continue;
    }
    const p = to?.payment ?? before;
    const minor = (to?.minor ?? 0n) - had;
    if (p !== undefined && minor !== 0n) move(lane, o, { payment: p, minor, movedAt: movedAt(lane, o, p, minor) });
  }
}

function turnOf({ status, detail }: MorObjectRow): number {
  if (status === 'won' || status === 'undone') return 0;
  return detail.loss === undefined ? 1 : 2;
}

/**
 * True if the ledger entry belongs to this dispute or return. The subjects of its entries are `dsp_…`, `dsp_…:2` and so
 * on.
 */
function isOf({ subject }: LedgerEntry, { id }: MorObjectRow): boolean {
  return subject.split(':')[0] === id;
}

/**
 * The time of a change of a loss, for the ledger entry of the change. If the loss is new, or the merchant won the
 * dispute, this is the reported time. If a refund or another dispute changes the loss, this is the time of that refund
 * or dispute. Without such a cause, this is the present time. No change is earlier than the loss's last change.
 * @param moved smallest units; negative: the loss is reversed
 */
function movedAt(lane: Lane, object: MorObjectRow, payment: PaymentRow, moved: bigint): Date {
  const said = object.detail.returnedAt ?? object.detail.outcomeAt;
  if (said === undefined || object.status === 'undone') return lane.now;
  const { minor = '0', movedAt: last = said } = object.detail.loss ?? {};
  const isWon = object.status === 'won';
  const isCause = (entry: LedgerEntry): boolean =>
    entry.paymentRowId === payment.id &&
    (moved > 0n ? entry.debit : entry.credit) === 'mor_receivable' &&
    !isOf(entry, object);
  const causes = isWon ? [] : lane.entries.filter(isCause).map((e) => e.movedAt.toISOString());
  const isNews = isWon || minor === '0'; // a first loss, or a loss after a win
  if (causes.length === 0 && !isNews) return lane.now;
  return new Date(Math.max(...[said, last, ...causes].map((t) => Date.parse(t))));
}

/**
 * Returns the loss of each lost dispute or return: its amount, at most the rest of the payment. An unknown amount means
 * the whole rest.
 */
function lossesOf(lane: LaneRows): ReadonlyMap<string, { readonly payment: PaymentRow; readonly minor: bigint }> {
  const losses = new Map<string, { payment: PaymentRow; minor: bigint }>();
  const when = (object: MorObjectRow): string => `${object.detail.outcomeAt ?? ''} ${object.morId ?? object.id}`;
  const lost = lane.objects.filter(
    (o) => (o.kind === 'dispute' && o.status === 'lost') || (o.kind === 'debit_return' && o.status === 'returned'),
  );
  for (const payment of lane.payments) {
    if (payment.succeededAt === null || payment.amount === null) continue;
    let remaining = payment.amount - payment.amountRefunded;
    // Leaves out a loss with an unclear amount: a person finds out if the bank took the whole payment or a part.
    const own = lost.filter((o) => o.paymentRowId === payment.id && unreadSum(o, payment) === null);
    for (const o of own.toSorted((a, b) => (when(a) < when(b) ? -1 : 1))) {
      const fits = o.amount !== null && o.currency === payment.currency && o.amount < remaining;
      const minor = fits ? (o.amount ?? 0n) : remaining;
      remaining -= minor;
      if (minor > 0n) losses.set(o.id, { payment, minor });
    }
  }
  return losses;
}

/** Books a change of a payment's loss. A negative `minor` lowers the loss. */
function move(
  lane: Lane,
  object: Mutable<MorObjectRow>,
  { payment: p, minor, movedAt }: { readonly payment: PaymentRow; readonly minor: bigint; readonly movedAt: Date },
): void {
  if (minor === 0n) return;
  const { of, minor: had, entries: before } = object.detail.loss ?? { of: p.id, minor: '0', entries: 0 };
  const entries = before + 1;
  const now = (of === p.id ? BigInt(had) : 0n) + minor;
  const entry = entryOf(object, p, {
    subject: entries === 1 ? object.id : `${object.id}:${entries}`,
    minor,
    when: { at: lane.now, movedAt },
  });
  const loss = { of: p.id, minor: now.toString(), entries, movedAt: movedAt.toISOString() };
  lane.post(entry);
  object.detail = { ...object.detail, loss };
  lane.log('decision', `${showMoney(entry.amount)} ${reasonOf(object, minor > 0n)}`, object);
}

type When = Pick<LedgerEntry, 'at' | 'movedAt'>;

function entryOf(
  object: MorObjectRow,
  payment: PaymentRow,
  { subject, minor, when }: { readonly subject: string; readonly minor: bigint; readonly when: When },
): LedgerEntry {
  if (object.kind === 'debit_return') {
    return minor > 0n
      ? debitReturned(payment, subject, minor, when)
      : debitReturnReversed(payment, subject, -minor, when);
  }
  return minor > 0n ? disputeLost(payment, subject, minor, when) : disputeReversed(payment, subject, -minor, when);
}

function reasonOf(object: MorObjectRow, isLoss: boolean): string {
  const what = object.kind === 'debit_return' ? `return ${object.id}` : `dispute ${object.morId ?? object.id}`;
  if (!isLoss) return `of the loss from ${what} is reversed in the ledger`;
  return `was taken back by the bank: ${object.kind === 'debit_return' ? `the debit was returned, ${object.id}` : `${what} is lost`}`;
}

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

// What banks took back of a lane's payments, in the ledger: by a lost dispute, or by the return of a debit.
import { addEntry, type Ctx, note, putObject } from '../../domain/lane/change.js';
import { showMoney } from '../../domain/money.js';
import { type LaneState, type LedgerEntry, type PaymentRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { debitReturned, debitReturnReversed, disputeLost, disputeReversed } from '../../ledger/rules/postings.js';

/**
 * The books follow what is known now, in whatever order it became known: a refund counts before a loss, a loss takes what is left of
 * its payment, and one that is no loss after all is taken back. Entries are never changed: the difference is another one.
 */
export function bookLosses(s: LaneState, ctx: Ctx): LaneState {
  const wanted = lossesOf(s);
  let state = s;
  for (const o of s.objects) {
    if (o.kind !== 'dispute' && o.kind !== 'debit_return') continue;
    const { loss } = o.detail;
    const to = wanted.get(o.id);
    const had = loss === undefined ? 0n : BigInt(loss.minor);
    const before = s.payments.find((p) => p.id === loss?.of);
    if (before !== undefined && before.id !== to?.payment.id) {
      state = move(state, o.id, before, -had, ctx);
      if (to !== undefined) state = move(state, o.id, to.payment, to.minor, ctx);
    } else if (to !== undefined) state = move(state, o.id, to.payment, to.minor - had, ctx);
  }
  return state;
}

/** What the bank took, by dispute or return: its own amount where it fits, else all that was neither given back nor taken by an earlier one. */
function lossesOf(s: LaneState): ReadonlyMap<string, { readonly payment: PaymentRow; readonly minor: bigint }> {
  const losses = new Map<string, { payment: PaymentRow; minor: bigint }>();
  const when = (o: MorObjectRow): string => `${o.detail.outcomeAt ?? ''} ${o.morId ?? o.id}`;
  const lost = s.objects.filter(
    (o) => (o.kind === 'dispute' && o.status === 'lost') || (o.kind === 'debit_return' && o.status === 'returned'),
  );
  for (const payment of s.payments) {
    if (payment.succeededAt === null || payment.amount === null) continue;
    let rest = payment.amount - payment.amountRefunded;
    const own = lost.filter((o) => o.paymentRowId === payment.id);
    for (const o of own.toSorted((a, b) => (when(a) < when(b) ? -1 : 1))) {
      const fits = o.amount !== null && o.currency === payment.currency && o.amount < rest;
      const minor = fits ? (o.amount ?? 0n) : rest;
      rest -= minor;
      if (minor > 0n) losses.set(o.id, { payment, minor });
    }
  }
  return losses;
}

/** Books `minor` more, or less, as the loss by a dispute or a return of this payment. */
function move(s: LaneState, objectId: string, p: PaymentRow, minor: bigint, ctx: Ctx): LaneState {
  const o = s.objects.find((x) => x.id === objectId);
  if (o === undefined || minor === 0n) return s;
  const { entries = 0, minor: had = '0', of = p.id } = o.detail.loss ?? {};
  const subject = entries === 0 ? o.id : `${o.id}:${entries + 1}`;
  const now = (of === p.id ? BigInt(had) : 0n) + minor;
  const loss = { of: p.id, minor: now.toString(), entries: entries + 1 };
  // The first entry belongs to the bank's time. What corrects it happens now: no month that is over changes by it.
  const at = o.detail.returnedAt ?? o.detail.outcomeAt;
  const movedAt = entries === 0 && at !== undefined ? new Date(at) : ctx.now;
  const entry = entryOf(o, p, subject, minor, { at: ctx.now, movedAt });
  const booked = putObject(addEntry(s, entry), { ...o, detail: { ...o.detail, booked: true, loss } });
  return note(booked, ctx, 'decision', `${showMoney(entry.amount)} ${reasonOf(o, minor > 0n)}`, o.id);
}

type When = Pick<LedgerEntry, 'at' | 'movedAt'>;

function entryOf(o: MorObjectRow, p: PaymentRow, subject: string, minor: bigint, when: When): LedgerEntry {
  if (o.kind === 'debit_return') {
    return minor > 0n ? debitReturned(p, subject, minor, when) : debitReturnReversed(p, subject, -minor, when.at);
  }
  return minor > 0n ? disputeLost(p, subject, minor, when) : disputeReversed(p, subject, -minor, when.at);
}

function reasonOf(o: MorObjectRow, isLoss: boolean): string {
  const what = o.kind === 'debit_return' ? `return ${o.id}` : `dispute ${o.morId ?? o.id}`;
  if (!isLoss) return `of the loss by ${what} is taken back`;
  return `was taken back by the bank: ${o.kind === 'debit_return' ? `the debit was returned, ${o.id}` : `${what} is lost`}`;
}

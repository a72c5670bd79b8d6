// What banks took back of a lane's payments, in the ledger: by a lost dispute, or by the return of a debit.
import { type Draft, type Lane } from '../../engine/draft.js';
import { showMoney } from '../../domain/money.js';
import { type LaneRows, type LedgerEntry, type PaymentRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { debitReturned, debitReturnReversed, disputeLost, disputeReversed } from '../../ledger/rules/postings.js';
import { unreadSum } from './unread-sum.js';

/**
 * The books follow what is known now, in whatever order it became known: a refund counts before a loss, a loss takes what is left of
 * its payment, and one that is no loss after all is taken back. Entries are never changed: the difference is another one.
 */
export function bookLosses(lane: Lane): void {
  const wanted = lossesOf(lane);
  const all = lane.objects.filter((o) => o.kind === 'dispute' || o.kind === 'debit_return');
  // First what the bank said, then what follows from it for the others of the payment.
  for (const o of all.toSorted((x, y) => turnOf(x) - turnOf(y))) {
    const { loss } = o.detail;
    const to = wanted.get(o.id);
    const had = loss === undefined ? 0n : BigInt(loss.minor);
    const before = lane.findPayment(loss?.of);
    if (before !== undefined && to !== undefined && before.id !== to.payment.id) {
      // It was booked for another payment: out of the one and into the other in the same month.
      move(lane, o, before, -had, lane.now);
      move(lane, o, to.payment, to.minor, lane.now);
      continue;
    }
    const p = to?.payment ?? before;
    const minor = (to?.minor ?? 0n) - had;
    if (p !== undefined && minor !== 0n) move(lane, o, p, minor, movedAt(lane, o, p, minor));
  }
}

function turnOf({ status, detail }: MorObjectRow): number {
  if (status === 'won' || status === 'undone') return 0;
  return detail.loss === undefined ? 1 : 2;
}

/** Its entries are named after it: `dsp_…`, then `dsp_…:2`. */
function isOf({ subject }: LedgerEntry, { id }: MorObjectRow): boolean {
  return subject.split(':')[0] === id;
}

/**
 * When the money of a loss moved: a loss and a win at the MoR's time of them; one that changes by another movement of its payment (a
 * refund, or another dispute) at the time of that, and not before the loss itself. What has no such time moves now. Nothing is taken back
 * before it was booked as lost. `moved`: smallest units, with a minus taken back.
 */
function movedAt(lane: Lane, o: MorObjectRow, p: PaymentRow, moved: bigint): Date {
  const said = o.detail.returnedAt ?? o.detail.outcomeAt;
  if (said === undefined || o.status === 'undone') return lane.now;
  const { minor = '0', moves = [] } = o.detail.loss ?? {};
  const isMore = moved > 0n;
  if (o.status === 'won') return standsFrom(latest(said), -moved, o);
  // Of this decision: a lane has none of its earlier entries in hand (domain/model.ts).
  const causes = lane.entries
    .filter((e) => e.paymentRowId === p.id && (isMore ? e.debit : e.credit) === 'mor_receivable' && !isOf(e, o))
    .map((e) => e.movedAt.toISOString());
  // Lost, or won and lost again.
  const isNews = minor === '0';
  if (causes.length === 0 && !isNews) return lane.now;
  if (!isMore) return standsFrom(latest(said, ...causes), -moved, o);
  // Booked again after it was taken back as not sure, no month has it twice.
  return latest(said, ...causes, ...moves.filter((m) => BigInt(m.minor) < 0n).map((m) => m.at));
}

/** The first moment, not before `from`, since which so much of the loss has stood in the books without a break. */
function standsFrom(from: Date, minor: bigint, { detail: { loss } }: MorObjectRow): Date {
  const moves = (loss?.moves ?? []).toSorted((a, b) => (a.at < b.at ? -1 : 1));
  // What was booked before moves were kept stood before all of them.
  let stands = moves.reduce((rest, m) => rest - BigInt(m.minor), BigInt(loss?.minor ?? 0));
  let at = from;
  moves.forEach((m, n) => {
    const isNext = m.at !== moves[n - 1]?.at; // what moved at one moment is one change
    if (isNext && stands < minor) at = new Date(Math.max(at.getTime(), new Date(m.at).getTime()));
    stands += BigInt(m.minor);
  });
  return at;
}

/** The last of these times. */
function latest(...times: readonly string[]): Date {
  return new Date(Math.max(...times.map((t) => new Date(t).getTime())));
}

/** What the bank took, by dispute or return: its own amount where it fits, else all that was neither given back nor taken by an earlier one. */
function lossesOf(s: LaneRows): ReadonlyMap<string, { readonly payment: PaymentRow; readonly minor: bigint }> {
  const losses = new Map<string, { payment: PaymentRow; minor: bigint }>();
  const when = (o: MorObjectRow): string => `${o.detail.outcomeAt ?? ''} ${o.morId ?? o.id}`;
  const lost = s.objects.filter(
    (o) => (o.kind === 'dispute' && o.status === 'lost') || (o.kind === 'debit_return' && o.status === 'returned'),
  );
  for (const payment of s.payments) {
    if (payment.succeededAt === null || payment.amount === null) continue;
    let rest = payment.amount - payment.amountRefunded;
    // A sum that is not understood is a person's to find out (settle-disputes.ts): it may be all of it or a part.
    const own = lost.filter((o) => o.paymentRowId === payment.id && unreadSum(o, payment) === null);
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
function move(lane: Lane, o: Draft<MorObjectRow>, p: PaymentRow, minor: bigint, movedAt: Date): void {
  if (minor === 0n) return;
  const before: NonNullable<MorObjectRow['detail']['loss']> = o.detail.loss ?? { of: p.id, minor: '0', entries: 0 };
  const subject = before.entries === 0 ? o.id : `${o.id}:${before.entries + 1}`;
  const isSame = before.of === p.id;
  const now = (isSame ? BigInt(before.minor) : 0n) + minor;
  const moves = [...(isSame ? (before.moves ?? []) : []), { at: movedAt.toISOString(), minor: minor.toString() }];
  const entry = entryOf(o, p, subject, minor, { at: lane.now, movedAt });
  const loss = { of: p.id, minor: now.toString(), entries: before.entries + 1, moves };
  lane.book(entry);
  o.detail = { ...o.detail, booked: true, loss };
  lane.say('decision', `${showMoney(entry.amount)} ${reasonOf(o, minor > 0n)}`, o);
}

type When = Pick<LedgerEntry, 'at' | 'movedAt'>;

function entryOf(o: MorObjectRow, p: PaymentRow, subject: string, minor: bigint, when: When): LedgerEntry {
  if (o.kind === 'debit_return') {
    return minor > 0n ? debitReturned(p, subject, minor, when) : debitReturnReversed(p, subject, -minor, when);
  }
  return minor > 0n ? disputeLost(p, subject, minor, when) : disputeReversed(p, subject, -minor, when);
}

function reasonOf(o: MorObjectRow, isLoss: boolean): string {
  const what = o.kind === 'debit_return' ? `return ${o.id}` : `dispute ${o.morId ?? o.id}`;
  if (!isLoss) return `of the loss by ${what} is taken back`;
  return `was taken back by the bank: ${o.kind === 'debit_return' ? `the debit was returned, ${o.id}` : `${what} is lost`}`;
}

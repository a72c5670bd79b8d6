// Money lost to banks in a dispute or a returned debit: the ledger entries.
import { type Lane } from '../../../../engine/lane.js';
import { type MorObjectRow } from '../../../../shared/domain/mor-object.js';
import { type LedgerEntry } from '../../../../shared/domain/ledger-entry.js';
import { type PaymentRow } from '../../../../shared/domain/payment-row.js';
import { type LaneRows } from '../../../../shared/domain/model.js';
import { unreadSum } from '../../../../shared/domain/dispute-sum.js';
import { type Mutable } from '../../../../shared/domain/row.js';
import { showMoney } from '../../../../shared/domain/money.js';
import {
  debitReturned,
  debitReturnReversed,
  disputeLost,
  disputeReversed,
} from '../../../../shared/domain/postings.js';

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

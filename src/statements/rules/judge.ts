// What a line of the MoR's statement and our ledger say of each other: they agree, or how they differ, in words for an accountant.
import { showMoney } from '../../domain/money.js';
import { type Finding, type FindingKind, type OurPayment, type OurRefund, type Ours } from '../../domain/statement.js';
import { type StatementLine } from './line.js';

export type Judged = {
  /** What the line is about: a second line with the same key is a line twice. */
  readonly key: string;
  /** Our own thing that it is about, `payment:…` or `refund:…`; null: none. */
  readonly subject: string | null;
  readonly finding: Finding | null;
};

/** Every id of a line that a payment or a refund of ours may go by. */
export function idsOf(l: StatementLine): readonly string[] {
  return [l.charge, l.payment, l.refund].filter((id) => id !== null);
}

/** `hash`: of the whole record; fees have no name of their own. */
export function judge(l: StatementLine, ours: Ours, hash: string): Judged {
  const type = l.type ?? (l.refund === null ? 'payment' : 'refund');
  if (type === 'fee') return { key: `fee:${hash}`, subject: null, finding: found(l, 'fee', 'a fee of the MoR') };
  if (type === 'refund') return judgeRefund(l, ours);
  const p = paymentOf(l, ours.payments);
  if (type === 'returned') return judgeReturned(l, p);
  return judgePayment(l, p, ours);
}

/** By the payment's own name before its charge: one charge may be named by payments of two invoices. */
function paymentOf(l: StatementLine, payments: readonly OurPayment[]): OurPayment | undefined {
  const taken = payments.toSorted((a, b) => Number(b.taken) - Number(a.taken));
  return taken.find((p) => named(l.payment, p)) ?? taken.find((p) => named(l.charge, p));
}

function named(id: string | null, p: OurPayment): boolean {
  return id !== null && [p.paymentId, p.id, p.charge, p.intent, p.reference].includes(id);
}

/** The line was matched by its charge, and says that it is of another payment; null: it does not. */
function foreignPayment(l: StatementLine, p: OurPayment): string | null {
  if (l.payment === null || p.paymentId === null || named(l.payment, p)) return null;
  const by = l.charge === null ? '' : `; its charge ${l.charge} is that of payment ${p.paymentId} here`;
  return `line ${l.line} names payment ${l.payment}, which nothing here has${by}`;
}

function judgePayment(l: StatementLine, p: OurPayment | undefined, ours: Ours): Judged {
  const negative = l.amount < 0n;
  const key = `${negative ? 'minus' : 'payment'}:${p?.id ?? l.payment ?? l.charge ?? `line ${l.line}`}`;
  const about = p === undefined ? {} : aboutPayment(p);
  const subject = p === undefined || negative ? null : `payment:${p.id}`;
  const say = (kind: FindingKind, detail: string): Judged => ({ key, subject, finding: found(l, kind, detail, about) });
  if (negative) {
    const known = p === undefined ? '' : ` of payment ${nameOf(p)}`;
    return say(
      'negative_amount',
      `${money(l)}${known} and no refund id: a refund, a fee or a returned debit? Map its type column (--column type=<name>)`,
    );
  }
  if (p === undefined) return say('only_statement', nobody(l, 'payment'));
  const foreign = foreignPayment(l, p);
  if (foreign !== null) return say('ids_differ', foreign);
  const other = ours.payments.find((x) => x.id !== p.id && l.payment !== null && named(l.charge, x));
  if (l.charge !== null && p.charge !== null && !named(l.charge, p)) {
    const whose = other === undefined ? 'which nothing here has' : `which payment ${nameOf(other)} has`;
    return say(
      'ids_differ',
      `payment ${nameOf(p)} has charge ${p.charge} here, the statement says ${l.charge}, ${whose}`,
    );
  }
  if (!p.taken) return say('status_differs', `the statement has the payment as taken; here it is ${p.status}`);
  return say2(l, key, subject, about, p.amount ?? 0n, p.currency, l.amount);
}

function judgeRefund(l: StatementLine, { payments, refunds }: Ours): Judged {
  const size = sizeOf(l);
  const p = paymentOf(l, payments);
  const isNamed = (r: OurRefund): boolean =>
    l.refund !== null && [r.morRefundId, r.processorRefundId, r.id].includes(l.refund);
  // Two payments may be said to have one and the same refund of the processor's: the line's own comes first.
  const byName = refunds.find((r) => r.paymentRowId === p?.id && isNamed(r)) ?? refunds.find(isNamed);
  const same =
    l.refund !== null || p === undefined
      ? []
      : fulfilled(refunds.filter((r) => r.paymentRowId === p.id && r.amount === size && r.currency === l.currency));
  const r = byName ?? (same.length === 1 ? same[0] : undefined);
  const key = `refund:${r?.id ?? l.refund ?? `line ${l.line}`}`;
  const about =
    r === undefined
      ? p === undefined
        ? {}
        : aboutPayment(p)
      : {
          refund: l.refund ?? r.morRefundId ?? r.id,
          invoiceId: r.invoiceId,
          ledgerAmount: r.amount,
          ledgerCurrency: r.currency,
        };
  const subject = r === undefined ? null : `refund:${r.id}`;
  const say = (kind: FindingKind, detail: string): Judged => ({ key, subject, finding: found(l, kind, detail, about) });
  if (r === undefined) {
    if (same.length > 1)
      return say('only_statement', `it names no refund, and payment ${nameOf(p)} has ${same.length} of this amount`);
    return say('only_statement', nobody(l, 'refund'));
  }
  if (p !== undefined && r.paymentRowId !== p.id)
    return say('ids_differ', `refund ${about.refund ?? r.id} is not one of payment ${nameOf(p)} here`);
  const foreign = p === undefined ? null : foreignPayment(l, p);
  if (foreign !== null) return say('ids_differ', foreign);
  if (r.status !== 'succeeded')
    return say('status_differs', `the statement has the refund as paid; here it is ${r.status}`);
  if (!r.booked) return say('status_differs', NOT_BOOKED);
  return say2(l, key, subject, about, r.amount, r.currency, size);
}

const NOT_BOOKED =
  'the statement has the refund as paid; it is known here, and not in the ledger: it does not fit into its payment, or nobody has told of that';

/** What a statement shows was paid out: of several refunds, those that succeeded, if any did, and of these those in the ledger. */
function fulfilled(refunds: readonly OurRefund[]): readonly OurRefund[] {
  const succeeded = refunds.filter((r) => r.status === 'succeeded');
  const booked = succeeded.filter((r) => r.booked);
  if (booked.length > 0) return booked;
  return succeeded.length > 0 ? succeeded : refunds;
}

/** The bank takes the whole debit, whatever of it was given back before; the ledger books what is left (finance.md). */
function judgeReturned(l: StatementLine, p: OurPayment | undefined): Judged {
  const key = `returned:${p?.id ?? l.payment ?? l.charge ?? `line ${l.line}`}`;
  const about = p === undefined ? {} : aboutPayment(p);
  const say = (kind: FindingKind, detail: string): Judged => ({
    key,
    subject: null,
    finding: found(l, kind, detail, about),
  });
  if (p === undefined) return say('only_statement', `a returned debit: ${nobody(l, 'payment')}`);
  const foreign = foreignPayment(l, p);
  if (foreign !== null) return say('ids_differ', foreign);
  if (p.returned > 0n) return judgeBooked(l, p, key);
  if (!p.taken || p.amount === null)
    return say('status_differs', `the statement has the debit as returned; here nothing was taken, it is ${p.status}`);
  const left = p.amount - p.refunded - p.lost;
  if (left <= 0n) {
    const gone = `all of it was ${givenBack(p)} before, and the ledger has nothing left to book`;
    const what = p.refunded === 0n && p.lost === sizeOf(l) ? CHARGEBACK : TWICE;
    return say('status_differs', `the bank returned the debit of payment ${nameOf(p)}; ${gone}. ${what}`);
  }
  const on = l.at === null ? '' : ` --on ${l.at.toISOString().slice(0, 10)}`;
  const advice = `if that is so, \`crossbill returned ${nameOf(p)}${on}\``;
  const part = left === sizeOf(l) ? '' : `, which books the ${show(left, p.currency)} that is left of it`;
  return say('debit_returned', `the bank returned the debit of payment ${nameOf(p)}: ${advice}${part}`);
}

/** A return that is booked agrees only with a line of the same money. */
function judgeBooked(l: StatementLine, p: OurPayment, key: string): Judged {
  const about = { ...aboutPayment(p), ledgerAmount: p.returned };
  const booked = show(p.returned, p.currency);
  const say = (kind: FindingKind, detail: string): Judged => ({
    key,
    subject: null,
    finding: found(l, kind, detail, about),
  });
  const theirs = `the statement says ${show(sizeOf(l), l.currency)} was returned, the ledger has ${booked} as lost`;
  if (l.currency !== p.currency) return say('currency_differs', theirs);
  if (sizeOf(l) === p.returned) return say('return_booked', `the return is booked here, ${booked} as lost`);
  const whole = p.amount !== null && sizeOf(l) === p.amount && p.refunded + p.lost > 0n;
  return say('amount_differs', whole ? `${theirs}: the rest was ${givenBack(p)} as well. ${TWICE}` : theirs);
}

/** What a person can do of it: the ledger never books more than the payment. */
const TWICE =
  'So the customer got it twice, or the MoR owes it to you: ask the MoR, and book what it takes from you beside this ledger';

/** No type of a statement stands for chargebacks: the line may be about the very dispute that is booked. */
const CHARGEBACK =
  'If this line is the chargeback of that dispute, both agree: leave such lines out with --type ignore=<word>. If a debit was returned beside it, ask the MoR';

function givenBack(p: OurPayment): string {
  if (p.refunded === 0n) return 'lost in a dispute';
  return p.lost === 0n ? 'refunded' : 'refunded or lost in a dispute';
}

/** Amount and currency of what both sides have. */
function say2(
  l: StatementLine,
  key: string,
  subject: string | null,
  about: Partial<Finding>,
  ours: bigint,
  currency: string,
  theirs: bigint,
): Judged {
  const say = (kind: FindingKind): Judged => {
    const detail = `the statement says ${show(theirs, l.currency)}, the ledger ${show(ours, currency)}`;
    return { key, subject, finding: found(l, kind, detail, about) };
  };
  if (l.currency !== currency) return say('currency_differs');
  return theirs === ours ? { key, subject, finding: null } : say('amount_differs');
}

/** A second line about the same: nothing else is said of it. */
export function twice(l: StatementLine, before: number, about: Finding | null): Finding {
  return found(l, 'line_twice', `the same is on line ${before} already`, {
    invoiceId: about?.invoiceId ?? null,
    ledgerAmount: about?.ledgerAmount ?? null,
    ledgerCurrency: about?.ledgerCurrency ?? null,
  });
}

/** A line that could not be read. */
export function unread(line: number, kind: 'unreadable' | 'unknown_type', why: string): Finding {
  return {
    line,
    kind,
    ...NOTHING,
    charge: null,
    payment: null,
    refund: null,
    amount: null,
    currency: null,
    detail: why,
  };
}

const NOTHING = { invoiceId: null, ledgerAmount: null, ledgerCurrency: null };

function found(l: StatementLine, kind: FindingKind, detail: string, about: Partial<Finding> = {}): Finding {
  const { line, charge, payment, refund, amount, currency } = l;
  return { line, kind, charge, payment, refund, ...NOTHING, amount, currency, detail, ...about };
}

function aboutPayment(p: OurPayment): Partial<Finding> {
  return { payment: nameOf(p), invoiceId: p.invoiceId, ledgerAmount: p.amount, ledgerCurrency: p.currency };
}

function nobody(l: StatementLine, what: string): string {
  const ids = idsOf(l);
  return ids.length === 0
    ? `it names no charge, payment or refund, so it matches nothing`
    : `the ledger has no ${what} by ${ids.join(' or ')}`;
}

const nameOf = (p: OurPayment | undefined): string => (p === undefined ? 'unknown' : (p.paymentId ?? p.id));
const show = (minor: bigint, currency: string): string => showMoney({ minor, currency });
/** Refunds and returns are written with either sign. */
const sizeOf = (l: StatementLine): bigint => (l.amount < 0n ? -l.amount : l.amount);
const money = (l: StatementLine): string => show(l.amount, l.currency);

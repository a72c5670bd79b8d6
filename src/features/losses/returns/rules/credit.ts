// Shows a loss to a bank on Stripe with a credit note, if a person chooses so. Works like the credit note of a refund
// (core/refunds/rules/mirror.ts).
import { type Mutable } from '../../../../shared/domain/row.js';
import { type CallRow } from '../../../../shared/domain/call-row.js';
import { type LedgerEntry } from '../../../../shared/domain/ledger-entry.js';
import { type LaneRows } from '../../../../shared/domain/model.js';
import { type PaymentRow } from '../../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../../shared/domain/refund-row.js';
import { type Resolution, type ReviewRow } from '../../../../shared/domain/review-row.js';
import { creditRoom, isNoteOnItsWay } from '../../../../shared/domain/credit-room.js';
import { type LossCredit, type MorObjectRow, objectId } from '../../../../shared/domain/mor-object.js';
import { type Money, showMoney } from '../../../../shared/domain/money.js';
import { effectName } from '../../../../shared/domain/payment-name.js';
import { overpaid, saleOf } from '../../../../shared/domain/surplus.js';
import { openCallReview, refusalOf, subjectOfCall, type Call, type CallRule } from '../../../../engine/call.js';
import { type Choice, type ChoiceRule, type Refusal, refuse } from '../../../../engine/commanded.js';
import { type Lane } from '../../../../engine/lane.js';
import { askAgain } from '../../../../core/books/rules/invoice-facts.js';
import { itemRule } from '../../../../engine/items.js';
import { lossCredited, lossCreditReversed } from '../../../../shared/domain/postings.js';
import { type CallFailure } from '../../../../shared/domain/ports/call.js';
import { isOnItsWay } from '../../../../shared/domain/status.js';

const least = (amount: bigint, ...others: readonly bigint[]): bigint =>
  others.reduce((n, x) => (x < n ? x : n), amount);

/**
 * The part of a loss Crossbill may write off with a credit note on Stripe. Refunds and earlier credit notes reduce this
 * part. Null: no amount is safe, for example because the lost payment does not settle the invoice on Stripe.
 */
export function creditable(lane: LaneRows, object: MorObjectRow): Money | null {
  const { loss, credit } = object.detail;
  const p = lane.payments.find((x) => x.id === loss?.of);
  const room = roomFor(lane);
  if (loss === undefined || credit !== undefined || p === undefined) return null;
  if (p.mark !== 'confirmed' || p.amount === null || lane.invoice?.platformStatus !== 'paid' || room === null)
    return null;
  // If the customer paid more than the amount due, only a person can tell if the loss took a part of the surplus.
  if (lane.invoice.currency !== p.currency || overpaid(lane) !== null) return null;
  if ((p.refundedTotal ?? 0n) > p.amountRefunded) return null;
  // An unfinished refund may still take a part of the loss.
  if (isNoteOnItsWay(lane) || lane.refunds.some((r) => r.paymentRowId === p.id && isOnItsWay(r))) return null;
  const credits = lane.objects.flatMap((x) => x.detail.credit ?? []);
  const credited = credits.reduce((n, c) => (c.of === p.id ? n + BigInt(c.minor) : n), 0n);
  const minor = least(BigInt(loss.minor), p.amount - p.amountRefunded - credited, room);
  return minor > 0n ? { minor, currency: p.currency } : null;
}

/** The room for the credit note of a loss, null if unknown. Refunds waiting for their credit note come first. */
function roomFor(lane: LaneRows): bigint | null {
  // Without Stripe's sum, somebody may have credited a refused refund by hand.
  const isBefore = ({ mirror }: RefundRow): boolean =>
    mirror === 'waiting' || (mirror === 'parked' && (lane.invoice?.amountCredited ?? null) === null);
  const room = creditRoom(lane);
  if (room === null) return null;
  return lane.refunds.reduce((left, r) => (r.counted && isBefore(r) ? left - saleOf(r) : left), room);
}

/** The actions in the item about a loss. Crossbill proposes no action, because only a person knows the right one. */
export function offersOf(
  lane: LaneRows,
  object: MorObjectRow,
): { readonly actions: readonly Resolution[]; readonly proposed?: null } {
  return creditable(lane, object) === null
    ? { actions: ['dismiss'] }
    : { actions: ['credit', 'dismiss'], proposed: null };
}

/** Carries out a person's choice in the item about a lost dispute or a returned debit. */
export const applyLossChoice: ChoiceRule = (lane, values, { resolution }) => {
  if (resolution !== 'credit') return null;
  const o = lane.objects.find((x) => isLoss(x) && kindOf(x) === values.kind && itemOf(x) === values.subject);
  const amount = o === undefined ? null : creditable(lane, o);
  const of = o?.detail.loss?.of;
  if (o === undefined || amount === null || of === undefined) return notAvailable();
  // The credit note's name contains the MoR's id of the dispute: after a restored backup Crossbill makes the same name.
  const name = `loss:${objectId(o)}`;
  const begun = { noteId: null, booked: '0', entries: 0 } as const;
  begin(lane, o, { name, of, minor: amount.minor.toString(), stage: 'reporting', ...begun });
  return null;
};

function notAvailable(): Refusal {
  const why =
    'Crossbill cannot safely credit this loss now: its facts have changed, or a refund is under way. Read the item again.';
  return refuse(409, 'credit_not_available', why);
}

function begin(lane: Lane, object: Mutable<MorObjectRow>, credit: LossCredit): void {
  const p = lane.findPayment(credit.of);
  if (p === undefined) return;
  send(lane, object, p, credit);
  const sum = (minor: bigint): string => showMoney({ minor, currency: p.currency });
  const remaining = stillCredited(object, credit) - BigInt(credit.minor);
  const stays = remaining > 0n ? `; ${sum(remaining)} stays a loss` : '';
  lane.log(
    'decision',
    `show ${sum(BigInt(credit.minor))} of the loss from ${objectId(object)} as a credit note${stays}`,
    object,
  );
}

/** Stores the next call: the report on the payment record, then the credit note. */
function send(lane: Lane, object: Mutable<MorObjectRow>, payment: PaymentRow, credit: LossCredit): void {
  const { name } = credit;
  const sum = (minor: string) => ({ minor: BigInt(minor), currency: payment.currency });
  const amount = sum(credit.minor);
  const paymentRecordId = payment.paymentRecordId;
  const isOf = (call: CallRow): boolean => call.kind === 'report_refund' && call.subject === name;
  const isReported = lane.calls.some((m) => isOf(m) && m.status === 'done');
  if (paymentRecordId !== null && !isReported) {
    const refundedAt = new Date(object.detail.returnedAt ?? object.detail.outcomeAt ?? object.createdAt);
    const about = { invoiceId: payment.invoiceId, paymentRecordId, refundId: name, reference: name };
    const reported = sum(credit.reported ?? credit.minor);
    lane.call({ kind: 'report_refund', ...about, amount: reported, refundedAt }, name, payment);
    object.detail = { ...object.detail, credit: { ...credit, stage: 'reporting' } };
    return;
  }
  const refunded = paymentRecordId === null ? null : { paymentRecordId, reference: name };
  lane.call(
    { kind: 'issue_credit_note', invoiceId: payment.invoiceId, refundId: name, amount, refunded },
    name,
    payment,
  );
  object.detail = { ...object.detail, credit: { ...credit, stage: 'crediting' } };
}

/** The rules both calls share: the report on the payment record, and the credit note. */
const lossCall = {
  of: (lane: LaneRows, subject: string) => lane.objects.some((o) => o.detail.credit?.name === subject),
  order: 2,
  readFirst: true,
  mayBeThere: () => true,
  refused: (lane: Lane, { row }: Call, failure: CallFailure) => {
    const found = creditNamed(lane, row.subject);
    if (found === null) return;
    const { o, credit } = found;
    o.detail = { ...o.detail, credit: { ...credit, stage: 'parked' } };
    askAgain(lane); // another credit note may have taken the room
    const fact = { code: 'credit-refused', loss: objectId(o), ...refusalOf(row, failure) } as const;
    openCallReview(lane, row, fact, { paymentRowId: credit.of });
  },
  /** `retry` makes the refused call again, over what the invoice can take by now. */
  chosen: (lane: Lane, r: ReviewRow, { resolution }: Choice) => {
    if (resolution !== 'retry') return null;
    const found = creditNamed(lane, subjectOfCall(r));
    if (found?.credit.stage !== 'parked') return null;
    // The loss may have ended by now: the merchant won the dispute, or somebody undid the return.
    if (stillCredited(found.o, found.credit) < BigInt(found.credit.minor)) return notAvailable();
    const { o, credit } = found;
    const minor = least(BigInt(credit.minor), creditRoom(lane) ?? BigInt(credit.minor));
    if (minor <= 0n || isNoteOnItsWay(lane)) return notAvailable();
    begin(lane, o, { ...credit, minor: minor.toString(), reported: credit.reported ?? credit.minor });
    return null;
  },
} as const;

export const reportLossCall: CallRule<'report_refund'> = {
  ...lossCall,
  replied: (lane, { row }) => {
    const found = creditNamed(lane, row.subject);
    const p = lane.findPayment(found?.credit.of);
    if (found?.credit.stage === 'reporting' && p !== undefined) send(lane, found.o, p, found.credit);
  },
};

export const creditLossCall: CallRule<'issue_credit_note'> = {
  ...lossCall,
  replied: (lane, { row }, { creditNoteId }) => {
    const found = creditNamed(lane, row.subject);
    if (found?.credit.stage !== 'crediting') return;
    const { o, credit } = found;
    o.detail = { ...o.detail, credit: { ...credit, stage: 'done', noteId: creditNoteId } };
    lane.log('decision', `Stripe shows the loss: credit note ${creditNoteId}`, o);
  },
};

/**
 * Books a credit note, at most up to the present loss. If the loss shrinks later, for example because the merchant wins
 * the dispute, a further entry reverses the difference.
 */
export function postCredits(lane: Lane): void {
  for (const o of lane.objects) {
    const { credit } = o.detail;
    const p = lane.findPayment(credit?.of);
    if (credit === undefined || credit.noteId === null || p === undefined) continue;
    const wanted = least(BigInt(credit.minor), stillCredited(o, credit));
    const minor = wanted - BigInt(credit.booked);
    if (minor === 0n) continue;
    const entries = credit.entries + 1;
    const subject = entries === 1 ? o.id : `${o.id}:${entries}`;
    const entry: LedgerEntry =
      minor > 0n ? lossCredited(p, subject, minor, lane.now) : lossCreditReversed(p, subject, -minor, lane.now);
    lane.post(entry);
    o.detail = { ...o.detail, credit: { ...credit, booked: wanted.toString(), entries } };
    const how = minor > 0n ? 'of the loss shows on Stripe' : 'of the credited loss is reversed';
    lane.log('decision', `${showMoney(entry.amount)} ${how}: ${objectId(o)}`, o);
  }
}

/**
 * Items for a credit note above its loss: Stripe can't void a credit note of a paid invoice (Stripe docs, "Credit
 * notes").
 */
export const creditItems = itemRule({ 'credit-beyond-loss': 'the loss covers the credit note' }, function* (lane) {
  for (const o of lane.objects) {
    const { credit } = o.detail;
    const p = lane.findPayment(credit?.of);
    if (credit === undefined || credit.noteId === null || p === undefined) continue;
    const credited = { minor: BigInt(credit.minor), currency: p.currency };
    const lost = { minor: stillCredited(o, credit), currency: p.currency };
    if (lost.minor >= credited.minor) continue;
    const over = o.status === 'won' || o.status === 'undone';
    // The bank may decide a dispute again. A person's dismissal counts only for the present win, not for an earlier
    // one.
    const heardAt = o.status === 'won' ? o.detail.outcomeHeardAt : undefined;
    const since = heardAt === undefined ? null : new Date(heardAt);
    const item = { about: o, subject: `${objectId(o)}:credit`, paymentRowId: p.id, since };
    const said = { creditNote: credit.noteId, payment: effectName(p), credited, lost, over };
    yield { ...item, kind: kindOf(o), fact: { code: 'credit-beyond-loss', ...said } };
  }
});

/**
 * How much of the credited payment is lost now. 0n: the dispute or return has no loss, or has a loss of another
 * payment.
 */
function stillCredited({ detail: { loss } }: MorObjectRow, { of }: LossCredit): bigint {
  return loss?.of === of ? BigInt(loss.minor) : 0n;
}

function creditNamed(lane: Lane, name: string): { o: Mutable<MorObjectRow>; credit: LossCredit } | null {
  for (const o of lane.objects) if (o.detail.credit?.name === name) return { o, credit: o.detail.credit };
  return null;
}

const isLoss = (object: MorObjectRow): boolean => object.kind === 'dispute' || object.kind === 'debit_return';

const kindOf = (object: MorObjectRow): 'dispute' | 'debit_returned' =>
  object.kind === 'dispute' ? 'dispute' : 'debit_returned';

/** The subject of the item about the loss. loss.ts opens this item. */
const itemOf = (object: MorObjectRow): string => (object.kind === 'dispute' ? `${objectId(object)}:lost` : object.id);

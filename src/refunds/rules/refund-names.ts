// A refund: how one begins, and the names by which events, answers and calls know it.
import { type LaneState, type OutboxRow, type PaymentRow, type RefundRow } from '../../domain/model.js';
import { type Ctx } from '../../engine/change.js';

/** Every name that a call about this refund may bear; refund and payment may have got ids since. Older releases left the payment out. */
export function namesOf(s: LaneState, r: RefundRow): readonly string[] {
  const own = [r.id, r.processorRefundId, r.morRefundId].filter((name) => name !== null);
  return [...own, ...prefixesOf(s, r).flatMap((prefix) => own.map((name) => `${prefix}${name}`))];
}

/** The reference under which a call of this name reported the refund. */
export function referenceIn(s: LaneState, r: RefundRow, subject: string): string {
  const prefix = prefixesOf(s, r).find((x) => subject.startsWith(x));
  return prefix === undefined ? subject : subject.slice(prefix.length);
}

function prefixesOf(s: LaneState, r: RefundRow): readonly string[] {
  const p = s.payments.find((x) => x.id === r.paymentRowId);
  return p === undefined ? [] : [p.paymentId, p.id].filter((name) => name !== null).map((name) => `${name}:`);
}

/** The refund that a stored call is about. */
export function refundOf(s: LaneState, m: OutboxRow): RefundRow | undefined {
  return s.refunds.find((r) => isAbout(s, r, m));
}

/** Whether a stored call is about this refund, whatever its payment is called by now: the MoR may have corrected the name. */
export function isAbout(s: LaneState, r: RefundRow, m: OutboxRow): boolean {
  if (namesOf(s, r).includes(m.subject)) return true;
  const { asked } = m;
  if (m.paymentRowId !== r.paymentRowId || (asked?.kind !== 'report_refund' && asked?.kind !== 'issue_credit_note'))
    return false;
  return [r.id, r.processorRefundId, r.morRefundId].includes(asked.refundId);
}

/** The refund under this id of ours: its own row, or the one that it was joined to. */
export function refundById(s: LaneState, id: string): RefundRow | undefined {
  return s.refunds.find((r) => r.askedAs === id) ?? s.refunds.find((r) => r.id === id);
}

export function newRefund(
  ctx: Ctx,
  p: PaymentRow,
  amount: bigint,
  reason: string | null,
  origin: RefundRow['origin'],
): RefundRow {
  return {
    id: ctx.newId('ref'),
    paymentRowId: p.id,
    invoiceId: p.invoiceId,
    morRefundId: null,
    processorRefundId: null,
    amount,
    currency: p.currency,
    status: 'requested',
    morStatus: null,
    reason,
    origin,
    askedAs: null,
    counted: false,
    totalAfter: null,
    surplus: 0n,
    mirror: 'none',
    creditNoteId: null,
    failure: null,
    createdAt: ctx.now,
    succeededAt: null,
  };
}

/** A refund of ours that waits for its answer and has no id yet. */
export function isNameless(r: RefundRow, amount: bigint): boolean {
  const waits = r.status === 'requested' || r.status === 'unknown';
  return r.origin === 'api' && waits && r.morRefundId === null && r.processorRefundId === null && r.amount === amount;
}

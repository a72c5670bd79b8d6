// The marks that another program makes while Crossbill sends nothing.
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { type PaymentRow, moveMark } from '../../../shared/domain/payment-row.js';
import { isCallOf } from '../../../engine/call.js';
import { isUnsent, type Lane } from '../../../engine/lane.js';
import { STEPS } from './mark-steps.js';
import { whyNothingDue } from '../../../shared/domain/nothing-due.js';
import { type Mutable } from '../../../shared/domain/row.js';
import { paymentMarked } from '../../../shared/domain/postings.js';
import { effectName } from '../../../shared/domain/payment-name.js';

/** True if another program makes the mark: Crossbill decided it, and never sent its newest call. */
export function isMarkedByOthers(lane: LaneRows, payment: PaymentRow): boolean {
  const kind = STEPS[payment.mark];
  const newest = lane.calls.findLast((m) => m.kind === kind && isCallOf(m, payment));
  return newest !== undefined && isUnsent(newest);
}

/** The invoice as before another program's mark: Crossbill decides on this state, not on that mark. */
export function beforeTheMark(invoice: InvoiceRow): InvoiceRow {
  const isMarked = invoice.platformStatus === 'paid' && whyNothingDue(invoice) === null;
  return isMarked ? { ...invoice, platformStatus: 'open', amountRemaining: invoice.amountDue } : invoice;
}

/** Books the mark once another program has marked the invoice. */
export function applyOthersMark(lane: Lane, payment: Mutable<PaymentRow>): void {
  if (lane.invoice?.platformStatus !== 'paid' || payment.amount === null) return;
  moveMark(payment, 'waiting');
  moveMark(payment, 'confirmed');
  lane.post(paymentMarked(payment, payment.amount, lane.now));
  lane.log(
    'decision',
    `payment ${effectName(payment)} is marked as Crossbill decided; somebody else marked it`,
    payment,
  );
}

/** For `verify --repair`: decides each mark again that another program was to make and did not make. */
export function decideMarksAgain(lane: Lane): void {
  if (lane.sendsNothing || lane.invoice?.platformStatus === 'paid') return;
  for (const p of lane.payments) {
    if (!isMarkedByOthers(lane, p)) continue;
    moveMark(p, 'waiting');
    lane.log('decision', `payment ${effectName(p)} got no mark from anybody else: Crossbill decides again`, p);
  }
}

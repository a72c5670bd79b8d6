// Withdraws a call of a mark that a fresh read made wrong.
import { type Mutable } from '../../../shared/domain/row.js';
import { type Lane } from '../../../engine/lane.js';
import { type CallRow } from '../../../shared/domain/call-row.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { moveMark, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { isCallOf, isCutOffSince, mayBeCutOff } from '../../../engine/call.js';
import { isFresh } from '../../books/rules/invoice-facts.js';
import { STEPS } from './mark-steps.js';
import { isPayable } from '../../../shared/domain/status.js';
import { showMoney } from '../../../shared/domain/money.js';
import { STANDSTILL_MS } from '../../../shared/policy.js';

type Payment = Mutable<PaymentRow>;

/**
 * Withdraws an unfinished call of a mark if a fresh read leads to another decision. Only the lane's worker may do so:
 * an API request cannot know if the call is on its way to Stripe, and a withdrawal would lose Stripe's reply.
 */
export function withdrawIfPointless(lane: Lane, payment: Payment, invoice: InvoiceRow): void {
  const m = lane.calls.find((x) => x.kind === STEPS[payment.mark] && isCallOf(x, payment) && x.status === 'pending');
  if (lane.ctx.beside === true || !isFresh(invoice, lane.now) || m === undefined) return;
  const why = findWhyPointless(lane, payment, invoice, m);
  if (why === null) return;
  lane.takeBack(m.id, why);
  moveMark(payment, 'waiting');
}

/** The reason to withdraw call `call`. Null: the call is still right, or Stripe may have received the call. */
function findWhyPointless(lane: Lane, payment: PaymentRow, invoice: InvoiceRow, call: CallRow): string | null {
  const isEnd = call.kind === 'attach_payment' || call.kind === 'pay_out_of_band';
  // If the invoice is no longer payable, withdraw an untried call. But keep the last call of a mark, even untried:
  // before each send Crossbill searches Stripe for this call's effect (mark-calls.ts).
  if (!isPayable(invoice)) return call.attempts === 0 && !isEnd ? `the invoice is now ${invoice.platformStatus}` : null;
  if (isAsDecided(payment, invoice) || (isEnd && standsStillUntil(payment, invoice, call, lane) !== null)) return null;
  // Has Stripe received a try of this call? A crash may have cut off the reply, and a second report would count twice.
  // Before the last call Crossbill searches for the call's effect. But a search from before the crash proves nothing.
  const isSearchedFor = isEnd && call.firstTriedAt !== null && !isCutOffSince(call.firstTriedAt, lane);
  const isUntried = call.attempts === 0 && (isSearchedFor || !mayBeCutOff(call, lane));
  // "Paid out of band" makes the whole invoice paid. So if the invoice is still payable, Stripe received no try.
  if (!isUntried && payment.markMode !== 'out_of_band') return null;
  return `${showMoney({ minor: invoice.amountRemaining ?? 0n, currency: payment.currency })} is due now`;
}

function isAsDecided(payment: PaymentRow, invoice: InvoiceRow): boolean {
  return (
    invoice.amountRemaining === payment.amount ||
    (payment.waived.includes('amount_mismatch') && payment.markMode !== 'out_of_band')
  );
}

/**
 * The end of the wait after a change of the amount due: a paused process may still send `call`, the last call of a mark.
 * Until this time Crossbill neither withdraws the call nor searches for its effect. Null: Crossbill need not wait.
 */
export function standsStillUntil(
  payment: PaymentRow,
  invoice: InvoiceRow,
  call: CallRow,
  lane: Parameters<typeof mayBeCutOff>[1],
): Date | null {
  if (!isPayable(invoice) || isAsDecided(payment, invoice) || !mayBeCutOff(call, lane)) return null;
  const until = new Date(call.nextTryAt.getTime() + STANDSTILL_MS);
  return until > lane.now ? until : null;
}

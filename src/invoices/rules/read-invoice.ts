// A fresh read of the invoice from Stripe: when one is needed, and what it tells.
import { type LaneState } from '../../domain/model.js';
import { type CallOutcome, mayPass, said } from '../../domain/ports/call.js';
import { type InvoiceFacts } from '../../domain/ports/billing-platform.js';
import { type Ctx, note, putInvoice, retryAt } from '../../engine/change.js';
import { ensureInvoice, takeRead } from '../../engine/facts.js';
import { showMoney } from '../../domain/money.js';
import { FAILED_READS_SHOWN } from '../../policy.js';
import { type ErrandRule } from '../../engine/subject.js';

/** A fresh read of the invoice came back, or did not. */
export function applyRead(s: LaneState, outcome: CallOutcome<InvoiceFacts | null>, ctx: Ctx): LaneState {
  if (outcome.ok) {
    const state = takeRead(s, ctx, outcome.value);
    const f = outcome.value;
    const text =
      f === null
        ? 'read from Stripe: no such invoice'
        : `read from Stripe: ${f.status}, ${showMoney({ minor: f.amountRemaining, currency: f.currency })} due`;
    return note(state, ctx, 'call', text, null, { call: 'read_invoice', requestId: outcome.requestId });
  }
  const { state, invoice } = ensureInvoice(s, ctx);
  const readAttempts = invoice.readAttempts + 1;
  const slow = !mayPass(outcome);
  const readDueAt = retryAt(ctx, readAttempts, outcome.retryAfterMs, slow);
  const later = putInvoice(state, { ...invoice, readAttempts, readDueAt });
  if (readAttempts > FAILED_READS_SHOWN) return later;
  return note(later, ctx, 'call', `read from Stripe failed: ${said(outcome)}`, null, {
    call: 'read_invoice',
    requestId: outcome.requestId,
  });
}

/** A read that somebody asked for, for its own sake. */
export const readErrand: ErrandRule = ({ invoice: i }, _, due) =>
  i !== null && i.readAt === null && i.readDueAt !== null && due(i.readDueAt)
    ? { do: 'read-invoice', invoiceId: i.invoiceId }
    : null;

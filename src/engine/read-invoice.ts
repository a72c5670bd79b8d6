// A fresh read of the invoice from Stripe: when one is wanted for its own sake, and what the lane takes from it.
import { type InvoiceFacts } from '../domain/ports/billing-platform.js';
import { type CallOutcome, mayPass, said } from '../domain/ports/call.js';
import { showMoney } from '../domain/money.js';
import { FAILED_READS_SHOWN } from '../policy.js';
import { retryAt } from './context.js';
import { type Lane } from './draft.js';
import { type Errand } from './errand.js';
import { ensureInvoice, takeRead } from './facts.js';
import { askFor, type Lookup } from './lookup.js';

export const invoiceLookup: Lookup<string, CallOutcome<InvoiceFacts | null>> = {
  name: 'read-invoice',
  wanted: (lane) => {
    const i = lane.invoice;
    if (i === null || i.readAt !== null || i.readDueAt === null) return null;
    return lane.isPast(i.readDueAt) ? i.invoiceId : null;
  },
  ask: (invoiceId, { platform }) => platform.readInvoice(invoiceId),
  take: takeInvoiceRead,
};

/** Reads the invoice next, for a rule that decides on what Stripe shows now. */
export function readInvoice(invoiceId: string): Errand {
  return askFor(invoiceLookup, invoiceId);
}

/** The read came back, or it failed and is made again later. */
export function takeInvoiceRead(lane: Lane, outcome: CallOutcome<InvoiceFacts | null>): void {
  const detail = { call: 'read_invoice', requestId: outcome.requestId };
  if (outcome.ok) {
    const f = outcome.value;
    takeRead(lane, f);
    const due = f === null ? '' : showMoney({ minor: f.amountRemaining, currency: f.currency });
    return lane.say(
      'call',
      `read from Stripe: ${f === null ? 'no such invoice' : `${f.status}, ${due} due`}`,
      null,
      detail,
    );
  }
  const i = ensureInvoice(lane);
  i.readAttempts += 1;
  i.readDueAt = retryAt(lane.ctx, i.readAttempts, outcome.retryAfterMs, !mayPass(outcome));
  if (i.readAttempts <= FAILED_READS_SHOWN) lane.say('call', `read from Stripe failed: ${said(outcome)}`, null, detail);
}

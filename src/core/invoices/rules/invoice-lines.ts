// The lines at level `info` about an invoice: opened, settled, refused. Pure: compares a lane before and after a commit.
import { keepCode } from '../../../shared/domain/foreign-words.js';
import { type LogLine } from '../../../engine/subject.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { showMoney } from '../../../shared/domain/money.js';

type Event = 'invoices.opened' | 'invoices.settled' | 'invoices.refused';

/**
 * The lines of one commit, usually none. `invoices.opened`: Crossbill expects money. `invoices.settled`: paid.
 * `invoices.refused`: the MoR got no money.
 */
export function invoiceLines(before: LaneState, after: LaneState): readonly LogLine[] {
  const { invoice } = after;
  if (invoice === null || (invoice === before.invoice && after.attempts.length === 0)) return [];
  return [...opened(before.invoice, invoice), ...refused(after, invoice), ...settled(before.invoice, invoice)];
}

function opened(before: InvoiceRow | null, after: InvoiceRow): LogLine[] {
  if (isOpened(before) || !isOpened(after) || after.status === 'paid') return [];
  return line('invoices.opened', after, { what: 'expected', amount: after.amountDue });
}

function settled(before: InvoiceRow | null, after: InvoiceRow): LogLine[] {
  if (after.status !== 'paid' || before?.status === 'paid' || after.amountDue === 0n) return [];
  return line('invoices.settled', after, { what: 'paid', amount: after.amountDue });
}

function refused({ attempts }: LaneState, invoice: InvoiceRow): LogLine[] {
  return attempts.flatMap((a) => {
    if (a.outcome === 'succeeded') return [];
    const fields = {
      payment: a.paymentId,
      outcome: a.outcome,
      decline_code: a.declineCode === null ? null : keepCode(a.declineCode),
      next_try_at: invoice.nextTryAt?.toISOString() ?? null,
    };
    const what = a.outcome === 'failed' ? 'refused' : 'not confirmed by the customer';
    return line('invoices.refused', { ...invoice, currency: a.currency }, { what, amount: a.amount, fields });
  });
}

type Said = { readonly what: string; readonly amount: bigint | null; readonly fields?: LogLine['fields'] };

function line(
  event: Event,
  { invoiceId, customerId, currency }: InvoiceRow,
  { what, amount, fields: more = {} }: Said,
): LogLine[] {
  if (amount === null || currency === null) return [];
  const message = `invoice ${invoiceId}: ${showMoney({ minor: amount, currency })} ${what}`;
  const fields = {
    invoice: invoiceId,
    customer: customerId,
    amount: Number(amount),
    currency: currency.toLowerCase(),
    ...more,
  };
  return [{ event, message, fields }];
}

/** True if Crossbill expects the MoR to collect money for the invoice, or the MoR has collected the money. */
function isOpened(invoice: InvoiceRow | null): boolean {
  const isOurs = invoice !== null && invoice.status !== 'ignored' && invoice.status !== 'void';
  return isOurs && invoice.amountDue !== null && invoice.amountDue > 0n;
}

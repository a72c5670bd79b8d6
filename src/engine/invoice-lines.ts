// The lines at level `info` about an invoice: opened, settled, refused. Pure: compares a lane before and after a commit.
import { keepCode } from '../shared/domain/foreign-words.js';
import { type InvoiceRow, type LaneState } from '../shared/domain/model.js';
import { showMoney } from '../shared/domain/money.js';

export type InvoiceLine = {
  /** `invoices.opened`: Crossbill expects money. `invoices.settled`: paid. `invoices.refused`: the MoR got no money. */
  readonly event: 'invoices.opened' | 'invoices.settled' | 'invoices.refused';
  readonly message: string;
  /** The fields, by the names in the log. Amounts are whole numbers in smallest units. */
  readonly fields: Readonly<Record<string, string | number | null>>;
};

/** The lines of one commit, usually none. They hold ids, amounts and codes, and no words about the customer. */
export function invoiceLines(before: LaneState, after: LaneState): readonly InvoiceLine[] {
  const { invoice } = after;
  if (invoice === null || (invoice === before.invoice && after.attempts.length === 0)) return [];
  return [...opened(before.invoice, invoice), ...refused(after, invoice), ...settled(before.invoice, invoice)];
}

function opened(before: InvoiceRow | null, after: InvoiceRow): InvoiceLine[] {
  if (isOpened(before) || !isOpened(after) || after.status === 'paid') return [];
  return line('invoices.opened', after, 'expected', after.amountDue, {});
}

function settled(before: InvoiceRow | null, after: InvoiceRow): InvoiceLine[] {
  if (after.status !== 'paid' || before?.status === 'paid' || after.amountDue === 0n) return [];
  return line('invoices.settled', after, 'paid', after.amountDue, {});
}

function refused({ attempts }: LaneState, invoice: InvoiceRow): InvoiceLine[] {
  return attempts.flatMap((a) => {
    if (a.outcome === 'succeeded') return [];
    const fields = {
      payment: a.paymentId,
      outcome: a.outcome,
      decline_code: a.declineCode === null ? null : keepCode(a.declineCode),
      next_try_at: invoice.nextTryAt?.toISOString() ?? null,
    };
    const what = a.outcome === 'failed' ? 'refused' : 'not confirmed by the customer';
    return line('invoices.refused', { ...invoice, currency: a.currency }, what, a.amount, fields);
  });
}

function line(
  event: InvoiceLine['event'],
  { invoiceId, customerId, currency }: InvoiceRow,
  what: string,
  amount: bigint | null,
  more: InvoiceLine['fields'],
): InvoiceLine[] {
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

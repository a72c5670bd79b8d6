// The fields of a ledger entry, for the journal, the CSV and the export.
import { field, fields } from '../../frames/console/fields.js';
import { type Html, html } from '../../frames/console/html.js';
import { amount, facts, id, invoiceNumberLink, paymentLink, time, words } from '../../frames/console/show.js';
import { type LedgerEntryView } from './ledger-entry.view.js';

/** Two lines of the journal: the debit above, the credit below. */
const lines = (debit: Html | string, credit: Html | string): Html =>
  html`<div class="line">${debit}</div>
    <div class="line credit">${credit}</div>`;

const sum = (entry: LedgerEntryView): Html => amount(BigInt(entry.amount), entry.currency.toUpperCase());

export const ledgerFields = fields<LedgerEntryView>({
  id: field.id({ label: 'All ids', cell: allIds }),
  moved_at: field.time({ label: 'Money moved', phone: 'below' }),
  reason: field.word({ label: 'Reason', phone: 'lead' }),
  debit_account: field.word({
    label: 'Account',
    cell: (e) => lines(words(e.debit_account), words(e.credit_account)),
  }),
  amount: field.money({ label: 'Debit', phone: 'side', cell: (e) => lines(sum(e), '') }),
  credit_account: field.word({ label: 'Credit', number: true, cell: (e) => lines('', sum(e)) }),
  currency: field.currency(),
  invoice_number: field.text({
    label: 'Invoice',
    phone: 'below',
    cell: (e) => invoiceNumberLink(e.invoice_id, e.invoice_number),
  }),
  customer_id: field.customer('Customer'),
  invoice_id: field.id(),
  payment_id: field.id(),
  mor_customer_id: field.id(),
  processor_charge_id: field.id(),
  payment_record_id: field.id(),
  refund_id: field.id(),
  mor_refund_id: field.id(),
  processor_refund_id: field.id(),
  credit_note_id: field.id(),
  event_id: field.id(),
  recorded_at: field.time(),
});

/** The ids of an entry, to copy. The list is folded, since it may have ten ids. */
function allIds(entry: LedgerEntryView): Html {
  const known = (name: string, value: string | undefined): [string, Html][] =>
    value === undefined ? [] : [[name, id(value)]];
  const rows: readonly [string, Html][] = [
    ['Entry', id(entry.id)],
    ['Payment', paymentLink(entry.payment_id)],
    ...known('Customer at the MoR', entry.mor_customer_id),
    ...known("Processor's charge", entry.processor_charge_id),
    ...known('Payment record on Stripe', entry.payment_record_id),
    ...known('Refund', entry.refund_id),
    ...known('Refund at the MoR', entry.mor_refund_id),
    ...known("Processor's refund", entry.processor_refund_id),
    ...known('Credit note on Stripe', entry.credit_note_id),
    ...known('Event', entry.event_id),
  ];
  return html`<details class="ids">
    <summary>${rows.length} ids</summary>
    ${facts([...rows, ['Recorded', time(new Date(entry.recorded_at))]])}
  </details>`;
}

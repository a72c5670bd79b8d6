// The ledger on the console.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { type LedgerRow, LedgerStore } from './ledger.store.js';
import { Page } from '../console/console.guard.js';
import { type Html, html } from '../console/html.js';
import { Pages } from '../console/pages.js';
import { MONEY_FILTERS, moneyFrom } from '../console/list-filters.js';
import { type CsvColumn, plainAmount, plainTime } from '../console/selection.js';
import { REASONS } from './rules/accounts.js';
import { chosen, type Column } from '../console/list.js';
import { amount, customerLink, facts, id, invoiceLink, paymentLink, time, words } from '../console/show.js';
import { sendList } from '../console/list-page.js';

const LEDGER_FILTERS = [
  { name: 'invoice_id', label: 'Invoice' },
  { name: 'payment_id', label: 'Payment' },
  {
    name: 'reason',
    label: 'Reason',
    options: REASONS,
  },
  ...MONEY_FILTERS,
  { name: 'customer_id', label: 'Customer' },
] as const;

const CSV: readonly CsvColumn<LedgerRow>[] = [
  ['entry_id', (e) => e.id],
  ['reason', (e) => e.reason],
  ['debit_account', (e) => e.debitAccount],
  ['credit_account', (e) => e.creditAccount],
  ['currency', (e) => e.currency],
  ['amount', (e) => plainAmount(e.amount, e.currency)],
  ['customer_id', (e) => e.customerId ?? ''],
  ['invoice_id', (e) => e.invoiceId],
  ['invoice_number', (e) => e.invoiceNumber ?? ''],
  ['payment_id', (e) => e.paymentId],
  ['refund_id', (e) => e.refundId ?? ''],
  ['charge_id', (e) => e.processorChargeId ?? ''],
  ['moved_at', (e) => plainTime(e.movedAt)],
];

const LEDGER: readonly Column<LedgerRow>[] = [
  {
    label: 'Reason',
    cell: (e) =>
      html`${words(e.reason)}
        <div class="dim on-wide">${words(e.debitAccount)} from ${words(e.creditAccount)}</div>`,
    phone: 'lead',
  },
  { label: 'Amount', cell: (e) => amount(e.amount, e.currency), number: true, phone: 'side' },
  { label: 'Money moved', cell: (e) => time(e.movedAt) },
  { label: 'Customer', cell: (e) => customerLink(e.customerId), phone: 'none' },
  { label: 'Invoice', cell: (e) => invoiceLink(e.invoiceId) },
  { label: 'Payment', cell: (e) => paymentLink(e.paymentId), phone: 'none' },
  { label: 'All ids', cell: allIds, phone: 'none' },
];

/** Every other id that is known of what an entry tells of, to be copied; folded, since there are up to nine. */
function allIds(e: LedgerRow): Html {
  const ids = [
    ['Entry', e.id],
    ['Customer at the MoR', e.morCustomerId],
    ['Invoice number', e.invoiceNumber],
    ["Processor's charge", e.processorChargeId],
    ['Payment record on Stripe', e.paymentRecordId],
    ['Refund', e.refundId],
    ['Refund at the MoR', e.morRefundId],
    ["Processor's refund", e.processorRefundId],
    ['Credit note on Stripe', e.creditNoteId],
    ['Event', e.eventId],
  ].filter((row): row is [string, string] => row[1] !== null);
  const rows = ids.map(([name, value]): [string, Html] => [name, id(value)]);
  return html`<details class="ids">
    <summary>${ids.length} ids</summary>
    ${facts([...rows, ['Recorded', time(e.recordedAt)]])}
  </details>`;
}

@Pages('console/ledger')
export class LedgerPages {
  constructor(private readonly entries: LedgerStore) {}

  @Get()
  @Page('ledger.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, LEDGER_FILTERS);
    const named = given({ invoiceId: values.invoice_id, paymentId: values.payment_id, reason: values.reason });
    const filter = { ...named, ...moneyFrom(values) };
    await sendList(req, res, {
      title: 'Ledger',
      section: 'ledger',
      path: '/console/ledger',
      filters: LEDGER_FILTERS,
      values,
      read: (page) => this.entries.list(filter, page),
      // Entries of several reasons add up to nothing: what was taken, marked and refunded is the same money again and again.
      ...(values.reason === undefined ? {} : { sums: () => this.entries.sums(filter) }),
      caption: 'Newest first; entries are never changed',
      columns: LEDGER,
      csv: ['ledger', CSV],
      empty: {
        filtered: 'No entries match these filters.',
        yet: 'Every movement of money will stand here as one entry between two accounts. The first payment makes the first one.',
      },
    });
  }
}

// The books as lists: the ledger and the audit trail; and the settings as they may be shown.
import { Controller, Get, Inject, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { given } from '../api/http/page.js';
import { type Config, CONFIG, redactedConfig } from '../config/index.js';
import { type AuditRow, Books, type LedgerRow } from '../domain/ports/books.js';
import { ConsoleFilter } from '../console/console.filter.js';
import { ConsoleGuard, Page } from '../console/console.guard.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../console/list.js';
import { amount, dotted, foreign, invoiceLink, paymentLink, reference, status, time, words } from '../console/show.js';

const LEDGER_FILTERS = [
  { name: 'invoice_id', label: 'Invoice' },
  { name: 'payment_id', label: 'Payment' },
  {
    name: 'reason',
    label: 'Reason',
    options: [
      'payment_collected',
      'payment_marked',
      'refund_paid',
      'refund_mirrored',
      'refund_of_unmarked',
      'dispute_lost',
      'dispute_reversed',
      'debit_returned',
      'debit_return_reversed',
    ],
  },
] as const;
const AUDIT_FILTERS = [
  { name: 'actor', label: 'Who (name of a key)' },
  { name: 'action', label: 'What' },
] as const;

const LEDGER: readonly Column<LedgerRow>[] = [
  { label: 'Entry', cell: (e) => html`<code class="id">${e.id}</code>` },
  { label: 'Reason', cell: (e) => words(e.reason) },
  { label: 'Amount', cell: (e) => amount(e.amount, e.currency), number: true },
  { label: 'Debit', cell: (e) => words(e.debitAccount) },
  { label: 'Credit', cell: (e) => words(e.creditAccount) },
  { label: 'Invoice', cell: (e) => invoiceLink(e.invoiceId) },
  { label: 'Payment', cell: (e) => paymentLink(e.paymentId) },
  { label: 'Recorded', cell: (e) => time(e.recordedAt) },
];

const AUDIT: readonly Column<AuditRow>[] = [
  { label: 'When', cell: (a) => time(a.at) },
  {
    label: 'Who',
    cell: (a) => html`${foreign(a.actor)} ${a.role !== null && html`<span class="dim">(${a.role})</span>`}`,
  },
  { label: 'What', cell: (a) => html`<code>${a.action}</code>` },
  { label: 'About', cell: (a) => (a.target === null ? '' : reference(a.target)) },
  {
    label: 'Outcome',
    cell: (a) => html`${status(a.outcome)} ${a.status !== 0 && html`<span class="dim">${a.status}</span>`}`,
  },
  { label: 'From', cell: (a) => html`<code>${a.source}</code>` },
];

@ApiExcludeController()
@UseFilters(ConsoleFilter)
@UseGuards(ConsoleGuard)
@Controller('console')
export class BookPages {
  constructor(
    private readonly books: Books,
    @Inject(CONFIG) private readonly config: Config,
  ) {}

  @Get('ledger')
  @Page('ledger.list')
  async ledger(@Req() req: Request, @Res() res: Response): Promise<void> {
    const path = '/console/ledger';
    const values = chosen(req, LEDGER_FILTERS);
    const page = pageOf(req);
    const filter = given({ invoiceId: values.invoice_id, paymentId: values.payment_id, reason: values.reason });
    const found = await this.books.ledger(filter, page);
    const empty =
      Object.keys(values).length > 0
        ? 'No entry fits these filters.'
        : 'No entry yet: the first payment makes the first one.';
    const body = html`${filterForm(path, LEDGER_FILTERS, values)}
    ${table('Newest first; entries are never changed', LEDGER, found.data, empty)}
    ${pager(path, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Ledger', section: 'ledger', body });
  }

  @Get('audit')
  @Page('audit.list', 'ops')
  async audit(@Req() req: Request, @Res() res: Response): Promise<void> {
    const path = '/console/audit';
    const values = chosen(req, AUDIT_FILTERS);
    const page = pageOf(req);
    const found = await this.books.audit(values, page);
    const body = html`${filterForm(path, AUDIT_FILTERS, values)}
    ${table('Newest first; refused tries too', AUDIT, found.data, 'No row fits these filters.')}
    ${pager(path, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Audit', section: 'audit', body });
  }

  @Get('settings')
  @Page('settings.read')
  settings(@Req() req: Request, @Res() res: Response): void {
    const body = table(
      'The settings in force; secrets are counted, never shown',
      [
        { label: 'Name', cell: (s) => html`<code>${dotted(s.name)}</code>` },
        { label: 'Value', cell: (s) => html`<code>${s.value}</code>` },
        { label: 'What it does', cell: (s) => html`<span class="dim">${s.description}</span>` },
      ],
      redactedConfig(this.config),
      '',
    );
    sendPage(req, res, { title: 'Settings', section: 'settings', body });
  }
}

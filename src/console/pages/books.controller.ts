// The books as lists: the ledger, the audit trail, the last verify run; and the settings as they may be shown.
import { Controller, Get, Inject, Req, Res, UseFilters, UseGuards } from '@nestjs/common';
import { ApiExcludeController } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { given } from '../../api/http/page.js';
import { type Config, CONFIG, redactedConfig } from '../../config/index.js';
import { type AuditRow, Books, type LedgerRow } from '../../domain/ports/books.js';
import { showLossWindow } from '../../domain/verify/loss-window.js';
import { untoldOf, VerifyBooks, type VerifyRun } from '../../domain/ports/verify-books.js';
import { ConsoleFilter } from '../console.filter.js';
import { ConsoleGuard, Page } from '../console.guard.js';
import { type Html, html } from '../html.js';
import { sendPage } from '../layout.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../list.js';
import {
  amount,
  dotted,
  facts,
  foreign,
  invoiceLink,
  paymentLink,
  reference,
  reviewLink,
  status,
  time,
  words,
} from '../show.js';

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
    private readonly verify: VerifyBooks,
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

  @Get('verify')
  @Page('verify.read')
  async verifyRun(@Req() req: Request, @Res() res: Response): Promise<void> {
    const run = await this.verify.last();
    sendPage(req, res, { title: 'Verify', section: 'verify', body: run === null ? neverRun : runOf(run) });
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

/** On one page; `crossbill verify` names more. */
const MOST_SHOWN = 500;

const neverRun = html`<div class="empty">
  <p>Verify has not run yet. It compares the ledger with Stripe and with the MoR, once a day.</p>
  <p>To run it now: <code>crossbill verify</code></p>
</div>`;

const capital = (text: string): string => text.slice(0, 1).toUpperCase() + text.slice(1);

function runOf(run: VerifyRun): Html {
  const compared = Object.entries(run.compared).map(([what, n]) => `${n} ${words(what)}`);
  const all = Object.values(run.more).reduce((sum, n) => sum + n, run.differences.length);
  return html`${facts([
    ['Outcome', status(run.outcome)],
    ['Began', time(run.startedAt)],
    ...(run.resumedFrom === null ? [] : [['Goes on with a run of', time(run.beganAt)] as const]),
    ['Ended', time(run.finishedAt, 'not yet')],
    ['Compared', compared.join(', ')],
    ['Differences', all],
    ['Of these nobody was told of', untoldOf(run)],
  ])}
  ${run.lossWindows.map((w) => html`<p class="message bad">${capital(showLossWindow(w))}.</p>`)}
  ${table(
    all > MOST_SHOWN ? `The first ${MOST_SHOWN} differences of the last run` : 'Differences of the last run',
    [
      { label: 'What', cell: (d) => words(d.kind) },
      { label: 'Invoice', cell: (d) => invoiceLink(d.invoiceId) },
      { label: 'In words', cell: (d) => foreign(d.detail) },
      {
        label: 'Repair',
        cell: (d) => (d.repair === 'person' ? 'by a person' : html`<code>crossbill verify --repair</code>`),
      },
      { label: 'Review item', cell: (d) => reviewLink(d.reviewId) },
    ],
    run.differences.slice(0, MOST_SHOWN),
    run.outcome === 'incomplete'
      ? 'None was found so far, but somebody could not be asked: not everything was compared.'
      : 'None: the ledger, Stripe and the MoR agree.',
  )}`;
}

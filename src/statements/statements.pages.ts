// The MoR's statements on the console: those that were reconciled, and what was found in each.
import { Get, Param, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { IdPipe } from '../api/http/id.pipe.js';
import { notFound } from '../api/http/problem.js';
import { type KeptFinding, type StatementRow, Statements } from '../domain/ports/statements.js';
import { Page } from '../console/console.guard.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { sendList } from '../console/list-page.js';
import { type CsvColumn, plainAmount } from '../console/selection.js';
import { chosen, type Column, pageOf, pager, table } from '../console/list.js';
import { Pages } from '../console/pages.js';
import { amount, count, facts, foreign, id, invoiceLink, status, time, words } from '../console/show.js';
import { differencesOf, FINDING_KINDS, outcomeOf } from './statement.view.js';

const PATH = '/console/statements';
const FILTERS = [{ name: 'kind', label: 'What', options: FINDING_KINDS }] as const;

const STATEMENTS: readonly Column<StatementRow>[] = [
  {
    label: 'Statement',
    cell: (s) => html`<a href="${PATH}/${encodeURIComponent(s.id)}">${s.fileName}</a>`,
    phone: 'lead',
  },
  { label: 'Outcome', cell: (s) => status(outcomeOf(s)), phone: 'side' },
  { label: 'Lines', cell: (s) => count(s.counts['lines'] ?? 0), number: true, phone: 'none' },
  { label: 'Differences', cell: (s) => count(differencesOf(s)), number: true, phone: 'none' },
  { label: 'By', cell: (s) => foreign(s.by) },
  { label: 'Reconciled', cell: (s) => time(s.finishedAt, 'not yet') },
];

const FINDINGS: readonly Column<KeptFinding>[] = [
  { label: 'What', cell: (f) => html`<span class="whole">${words(f.kind)}</span>`, phone: 'lead' },
  {
    label: 'Statement',
    cell: (f) => (f.currency === null ? '' : amount(f.amount, f.currency)),
    number: true,
    phone: 'side',
  },
  {
    label: 'Ledger',
    cell: (f) => (f.ledgerCurrency === null ? '' : amount(f.ledgerAmount, f.ledgerCurrency)),
    number: true,
    phone: 'none',
  },
  { label: 'In words', cell: (f) => foreign(f.detail) },
  {
    label: 'Line',
    cell: (f) => (f.line === null ? 'only the ledger' : html`<span class="on-phone">line </span>${f.line}`),
    number: true,
  },
  { label: 'Invoice', cell: (f) => (f.invoiceId === null ? '' : invoiceLink(f.invoiceId)) },
  { label: 'About', cell: (f) => id(f.refund ?? f.payment ?? f.charge), phone: 'none' },
];

const CSV: readonly CsvColumn<KeptFinding>[] = [
  ['line', (f) => String(f.line ?? '')],
  ['kind', (f) => f.kind],
  ['charge_id', (f) => f.charge ?? ''],
  ['payment_id', (f) => f.payment ?? ''],
  ['refund_id', (f) => f.refund ?? ''],
  ['invoice_id', (f) => f.invoiceId ?? ''],
  ['currency', (f) => f.currency ?? ''],
  ['amount', (f) => plainAmount(f.amount, f.currency)],
  ['ledger_currency', (f) => f.ledgerCurrency ?? ''],
  ['ledger_amount', (f) => plainAmount(f.ledgerAmount, f.ledgerCurrency)],
  ['in_words', (f) => f.detail],
];

@Pages('console/statements')
export class StatementPages {
  constructor(private readonly statements: Statements) {}

  @Get()
  @Page('statement.list')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const page = pageOf(req);
    const found = await this.statements.list(page);
    const empty = html`Each statement of the MoR that was compared with the ledger will stand here. To compare the first
      one: <code>crossbill reconcile statement.csv</code>`;
    const body = html`${table('Newest first', STATEMENTS, found.data, empty)}
    ${pager(PATH, {}, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Statements', section: 'statements', body });
  }

  @Get(':id')
  @Page('statement.read')
  async one(@Req() req: Request, @Res() res: Response, @Param('id', IdPipe) id: string): Promise<void> {
    const row = await this.statements.find(id);
    if (row === null) throw notFound('statement');
    const path = `${PATH}/${encodeURIComponent(id)}`;
    const values = chosen(req, FILTERS);
    const kind = FINDING_KINDS.find((k) => k === values.kind) ?? null;
    const above = facts([
      ['Outcome', status(outcomeOf(row))],
      ['Lines', row.counts['lines'] ?? 0],
      ['Agree with the ledger', row.counts['agree'] ?? 0],
      ['Differences', differencesOf(row)],
      ['Ledger looked through from', time(row.since, 'no date is known')],
      ['Until, not included', time(row.until, 'no date is known')],
      ['By', foreign(row.by)],
      ['Reconciled', time(row.finishedAt, 'not yet')],
    ]);
    await sendList(req, res, {
      title: `Statement ${row.fileName}`,
      section: 'statements',
      path,
      filters: FILTERS,
      values,
      read: (page) => this.statements.findings(id, kind, page),
      caption: 'By line; what only the ledger has comes last',
      columns: FINDINGS,
      csv: ['statement-differences', CSV],
      empty: {
        filtered: 'Nothing of this kind was found.',
        yet:
          row.status === 'reading'
            ? 'None so far: it is still being compared.'
            : 'None: the statement and the ledger agree.',
      },
      above,
    });
  }
}

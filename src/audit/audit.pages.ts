// The audit trail on the console.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type AuditRow, Books } from '../domain/ports/books.js';
import { Page } from '../console/console.guard.js';
import { FromStandby } from '../console/from-standby.js';
import { html } from '../console/html.js';
import { sendPage } from '../console/layout.js';
import { Pages } from '../console/pages.js';
import { chosen, type Column, filterForm, pageOf, pager, table } from '../console/list.js';
import { csvLink, type CsvColumn, plainTime, sendCsv, wantsCsv } from '../console/selection.js';
import { foreign, reference, status, time } from '../console/show.js';

const AUDIT_FILTERS = [
  { name: 'actor', label: 'Who' },
  { name: 'action', label: 'What' },
] as const;

const AUDIT: readonly Column<AuditRow>[] = [
  { label: 'When', cell: (a) => time(a.at), phone: 'below' },
  {
    label: 'Who',
    cell: (a) => html`${foreign(a.actor)} ${a.role !== null && html`<span class="dim">(${a.role})</span>`}`,
  },
  { label: 'What', cell: (a) => html`<code>${a.action}</code>`, phone: 'lead' },
  { label: 'About', cell: (a) => (a.target === null ? '' : reference(a.target)), phone: 'none' },
  {
    label: 'Outcome',
    cell: (a) => html`${status(a.outcome)} ${a.status !== 0 && html`<span class="dim">${a.status}</span>`}`,
    phone: 'side',
  },
  { label: 'From', cell: (a) => html`<code>${a.source}</code>`, phone: 'none' },
];

const CSV: readonly CsvColumn<AuditRow>[] = [
  ['at', (a) => plainTime(a.at)],
  ['who', (a) => a.actor],
  ['role', (a) => a.role ?? ''],
  ['what', (a) => a.action],
  ['about', (a) => a.target ?? ''],
  ['outcome', (a) => a.outcome],
  ['status', (a) => (a.status === 0 ? '' : String(a.status))],
  ['from', (a) => a.source],
];

@Pages('console/audit')
export class AuditPages {
  constructor(private readonly books: Books) {}

  @Get()
  @Page('audit.list', 'ops')
  @FromStandby()
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const path = '/console/audit';
    const values = chosen(req, AUDIT_FILTERS);
    if (wantsCsv(req)) return sendCsv(res, 'audit', CSV, (page) => this.books.audit(values, page));
    const page = pageOf(req);
    const found = await this.books.audit(values, page);
    const body = html`${filterForm(path, AUDIT_FILTERS, values)} ${found.data.length > 0 && csvLink(path, values)}
    ${table('Newest first; refused tries too', AUDIT, found.data, 'No rows match these filters.')}
    ${pager(path, values, page.cursor, found.nextCursor)}`;
    sendPage(req, res, { title: 'Audit', section: 'audit', body });
  }
}

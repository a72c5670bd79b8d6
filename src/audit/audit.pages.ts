// The audit trail on the console.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { type AuditRow } from './audit.entity.js';
import { AuditStore } from './audit.store.js';
import { Page } from '../console/console.guard.js';
import { html } from '../console/html.js';
import { Pages } from '../console/pages.js';
import { chosen, type Column } from '../console/list.js';
import { type CsvColumn, plainTime } from '../console/selection.js';
import { foreign, reference, status, time } from '../console/show.js';
import { sendList } from '../console/list-page.js';
import { SPAN_FILTERS, spanFrom } from '../console/list-filters.js';
import { given } from '../api/http/page.js';

const AUDIT_FILTERS = [{ name: 'actor', label: 'Who' }, { name: 'action', label: 'What' }, ...SPAN_FILTERS] as const;

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
  constructor(private readonly audit: AuditStore) {}

  @Get()
  @Page('audit.list', 'ops')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, AUDIT_FILTERS);
    const filter = { ...given({ actor: values.actor, action: values.action }), ...spanFrom(values) };
    await sendList(req, res, {
      title: 'Audit',
      section: 'audit',
      path: '/console/audit',
      filters: AUDIT_FILTERS,
      values,
      read: (page) => this.audit.list(filter, page),
      caption: 'Newest first; refused attempts too',
      columns: AUDIT,
      csv: ['audit', CSV],
      empty: {
        filtered: 'No rows match these filters.',
        yet: 'Every login and every change that a person or an API key makes will stand here.',
      },
    });
  }
}

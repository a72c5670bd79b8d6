// The console's page of the audit trail.
import { Get, Req, Res } from '@nestjs/common';
import { type Request, type Response } from 'express';
import { auditFields } from './audit.fields.js';
import { AuditRepository } from './audit.repository.js';
import { auditView } from './audit.view.js';
import { Page } from '../../frames/console/console.guard.js';
import { Pages } from '../../frames/console/pages.js';
import { chosen } from '../../frames/console/list.js';
import { sendList, viewsOf } from '../../frames/console/list-page.js';
import { SPAN_FILTERS, spanFrom } from '../../frames/console/list-filters.js';
import { given } from '../../frames/api/http/page.js';

const AUDIT_FILTERS = [{ name: 'actor', label: 'Who' }, { name: 'action', label: 'What' }, ...SPAN_FILTERS] as const;

@Pages('console/audit')
export class AuditPages {
  constructor(private readonly audit: AuditRepository) {}

  @Get()
  @Page('audit.list', 'ops')
  async list(@Req() req: Request, @Res() res: Response): Promise<void> {
    const values = chosen(req, AUDIT_FILTERS);
    await sendList(req, res, {
      title: 'Audit',
      section: 'audit',
      path: '/console/audit',
      filters: AUDIT_FILTERS,
      values,
      filter: (v) => ({ ...given({ actor: v.actor, action: v.action }), ...spanFrom(v) }),
      read: async (filter, page) => viewsOf(await this.audit.list(filter, page), auditView),
      caption: 'Newest first; refused attempts too',
      fields: ['audit', auditFields],
      empty: {
        filtered: 'No rows match these filters.',
        yet: 'Every login and every change by a person or an API key appears here.',
      },
    });
  }
}

// The audit trail: who did what, when, from where, with what outcome; refused tries too.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { type AuditRow } from './audit.entity.js';
import { AuditStore } from './audit.store.js';
import { MayRead } from '../api/access/access.js';
import { Free, Problems, Text, TextIfAny, TextOrNull, Time } from '../api/http/docs.js';
import { given, pageOf, PageQuery, pageRequest, type PageView, pageView } from '../api/http/page.js';
import { Since, spanOf, Until } from '../api/http/filters.js';
import { Filter } from '../api/http/rules.js';
import { timeOf } from '../api/http/values.js';

class AuditQuery extends PageQuery {
  @Filter("Only this API key's, by its name.") actor?: string;
  @Filter('Only this action, for example `refund.create`.') action?: string;
  @Since('when it was done') since?: string;
  @Until() until?: string;
}

class AuditView {
  @Text() id!: string;
  @Time() at!: string;
  @Text("An API key's name; `unknown` for a key that is not ours.") actor!: string;
  @TextOrNull("The key's role.") role!: string | null;
  @Text('For example `refund.create`.') action!: string;
  @TextIfAny('What it was about.') target?: string | undefined;
  @Text("The peer's address.") source!: string;
  @Text('`begun` (an operator’s change, before it is made), then `done`, `refused` or `failed`; `denied`: not let in.')
  outcome!: string;
  @ApiProperty({
    type: 'integer',
    nullable: true,
    description: 'The HTTP status it was answered with; null: not answered yet.',
  })
  status!: number | null;
  @Free('The code of a refusal, the id of what was made.') detail!: Readonly<Record<string, unknown>> | null;
}

@ApiTags('Audit')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly audit: AuditStore) {}

  @Get()
  @MayRead('ops', 'audit.list')
  @ApiOperation({ operationId: 'listAuditEntries', summary: 'The audit trail, newest first (role: ops)' })
  @ApiOkResponse({ type: pageOf(AuditView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() q: AuditQuery): Promise<PageView<AuditView>> {
    const filter = { ...given({ actor: q.actor, action: q.action }), ...spanOf(q) };
    return pageView(await this.audit.list(filter, pageRequest(q)), auditView);
  }
}

function auditView(a: AuditRow): AuditView {
  return {
    id: a.id,
    at: timeOf(a.at),
    actor: a.actor,
    role: a.role,
    action: a.action,
    target: a.target ?? undefined,
    source: a.source,
    outcome: a.outcome,
    status: a.status === 0 ? null : a.status,
    detail: a.detail,
  };
}

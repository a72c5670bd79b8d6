// The API's route for the audit trail: actor, action, time, place and outcome, also of refused tries.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { AuditRepository } from './audit.repository.js';
import { AuditView, auditView } from './audit.view.js';
import { MayRead } from '../../frames/api/access/access.js';
import { Problems } from '../../frames/api/http/docs.js';
import { given, pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { Since, spanOf, Until } from '../../frames/api/http/filters.js';
import { Filter } from '../../frames/api/http/rules.js';

class AuditQuery extends PageQuery {
  @Filter("Only the actions of this actor, such as an API key's name.") actor?: string;
  @Filter('Only this action, for example `refund.create`.') action?: string;
  @Since('when it was done') since?: string;
  @Until() until?: string;
}

@ApiTags('Audit')
@Controller('v1/audit')
export class AuditController {
  constructor(private readonly audit: AuditRepository) {}

  @Get()
  @MayRead('ops', 'audit.list')
  @ApiOperation({ operationId: 'listAuditEntries', summary: 'The audit trail, newest first (role: ops)' })
  @ApiOkResponse({ type: pageOf(AuditView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: AuditQuery): Promise<PageView<AuditView>> {
    const filter = { ...given({ actor: query.actor, action: query.action }), ...spanOf(query) };
    return pageView(await this.audit.list(filter, pageRequest(query)), auditView);
  }
}

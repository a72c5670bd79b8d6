// The MoR's statements that were reconciled, and what was found in each. Files come by the command line, which reads any size.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Statements } from '../domain/ports/statements.js';
import { MayRead } from '../api/access/access.js';
import { Problems } from '../api/http/docs.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../api/http/page.js';
import { notFound } from '../api/http/problem.js';
import { Filter } from '../api/http/rules.js';
import { FINDING_KINDS, FindingView, findingView, StatementView, statementView } from './statement.view.js';

class FindingsQuery extends PageQuery {
  @Filter('Only this kind.', FINDING_KINDS) kind?: (typeof FINDING_KINDS)[number];
}

@ApiTags('Statements')
@Controller('v1/statements')
export class StatementsController {
  constructor(private readonly statements: Statements) {}

  @Get()
  @MayRead('read', 'statement.list')
  @ApiOperation({
    operationId: 'listStatements',
    summary: 'Statements that were reconciled with `crossbill reconcile`, newest first (role: read)',
  })
  @ApiOkResponse({ type: pageOf(StatementView) })
  @Problems({ 400: '`invalid_request`: `limit` or `cursor` is wrong.' })
  async list(@Query() q: PageQuery): Promise<PageView<StatementView>> {
    return pageView(await this.statements.list(pageRequest(q)), statementView);
  }

  @Get(':id')
  @MayRead('read', 'statement.read')
  @ApiOperation({
    operationId: 'getStatement',
    summary: 'A statement: counts, sums, and whether it agrees with the ledger (role: read)',
  })
  @ApiOkResponse({ type: StatementView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<StatementView> {
    const row = await this.statements.find(id);
    if (row === null) throw notFound('statement');
    return statementView(row);
  }

  @Get(':id/findings')
  @MayRead('read', 'statement.read')
  @ApiOperation({
    operationId: 'listFindings',
    summary: 'What was found in a statement, by line; what only the ledger has comes last (role: read)',
  })
  @ApiOkResponse({ type: pageOf(FindingView) })
  @Problems({ 400: '`invalid_request`: `kind`, `limit` or `cursor` is wrong.', 404: '`not_found`' })
  async findings(@Param('id', IdPipe) id: string, @Query() q: FindingsQuery): Promise<PageView<FindingView>> {
    if ((await this.statements.find(id)) === null) throw notFound('statement');
    return pageView(await this.statements.findings(id, q.kind ?? null, pageRequest(q)), findingView);
  }
}

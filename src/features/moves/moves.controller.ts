// Lists the subscriptions' moves to the MoR. The command line makes the moves.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { MayRead } from '../../frames/api/access/access.js';
import { Problems } from '../../frames/api/http/docs.js';
import { customerOf } from '../../frames/api/http/filters.js';
import { pageOf, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { MoveView, moveView } from './move.view.js';
import { MovesQuery } from './moves.dto.js';
import { MovesRepository } from './moves.repository.js';

@ApiTags('Customers')
@Controller('v1/moves')
export class MovesController {
  constructor(private readonly moves: MovesRepository) {}

  @Get()
  @MayRead('read', 'move.list')
  @ApiOperation({
    operationId: 'listMoves',
    summary: 'Subscriptions that `crossbill move` looked at, the newest rows first (role: read)',
  })
  @ApiOkResponse({ type: pageOf(MoveView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: MovesQuery): Promise<PageView<MoveView>> {
    return pageView(
      await this.moves.list({ status: query.status, customerId: customerOf(query) }, pageRequest(query)),
      moveView,
    );
  }
}

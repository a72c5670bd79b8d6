// The API for the differences of the newest verify run, and their acknowledgement by a person.
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Clock } from '../../shared/domain/ports/clock.js';
import { VerifyRepository } from './verify.repository.js';
import { DifferenceView, differenceView } from '../../core/invoices/difference.view.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { Example, Problems, Text } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { pageOf, PageQuery, pageRequest, pageView, type PageView } from '../../frames/api/http/page.js';
import { invalid, notFound } from '../../frames/api/http/problem.js';
import { IsText, NOTE_MAX } from '../../frames/api/http/rules.js';

class AcknowledgeDto {
  @Example('Paid before Crossbill ran here.')
  @Text('Why the difference may stay; people will read the note later.')
  @IsText(NOTE_MAX)
  note!: string;
}

@ApiTags('Verify')
@Controller('v1/verify/differences')
export class VerifyController {
  constructor(
    private readonly books: VerifyRepository,
    private readonly clock: Clock,
  ) {}

  @Get()
  @MayRead('read', 'verify.list')
  @ApiOperation({
    operationId: 'listDifferences',
    summary: 'What the newest verify run found (role: read)',
    description: 'In the order verify found them. A cursor is good until the next run.',
  })
  @ApiOkResponse({ type: pageOf(DifferenceView) })
  @Problems({ 400: '`invalid_request`: `limit` or `cursor` is wrong.' })
  async list(@Query() query: PageQuery): Promise<PageView<DifferenceView>> {
    const { limit, cursor } = pageRequest(query);
    const all = (await this.books.last())?.differences ?? [];
    const from = cursor === null ? 0 : all.findIndex((d) => d.id === cursor);
    if (from < 0) throw invalid('cursor', 'is not of the newest run: leave it out to start again');
    const next = all[from + limit];
    return pageView({ data: all.slice(from, from + limit), nextCursor: next?.id ?? null }, differenceView);
  }

  @Post(':id/acknowledge')
  @HttpCode(200)
  @MayChange('ops', 'verify.acknowledge', { outside: false })
  @ApiOperation({
    operationId: 'acknowledgeDifference',
    summary: 'Acknowledge a difference (role: ops)',
    description:
      'Later runs count it as acknowledged until its facts change: another amount is another difference. A second note replaces the first.',
  })
  @ApiOkResponse({ type: DifferenceView })
  @Problems({ 400: '`invalid_request`', 404: '`not_found`: the newest run names no such difference.' })
  async acknowledge(
    @Param('id', IdPipe) id: string,
    @Body() { note }: AcknowledgeDto,
    @CurrentCaller() caller: Caller,
  ): Promise<DifferenceView> {
    const done = await this.books.acknowledge(id, { note, by: caller.name, at: this.clock.now() });
    if (done === null) throw notFound('difference in the newest verify run');
    return differenceView(done);
  }
}

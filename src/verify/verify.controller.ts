// What the newest verify run found, and a person's word that a difference was looked at.
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { Clock } from '../domain/ports/clock.js';
import { VerifyStore } from './verify.store.js';
import { differenceId } from './rules/acknowledge.js';
import { type Difference, differenceKinds } from '../domain/difference.js';
import { MayChange, MayRead } from '../api/access/access.js';
import { type Caller, CurrentCaller } from '../api/access/caller.js';
import { Problems, Text, TextIfAny, Time, Word } from '../api/http/docs.js';
import { IdPipe } from '../api/http/id.pipe.js';
import { pageOf, PageQuery, pageRequest, pageView, type PageView } from '../api/http/page.js';
import { invalid, notFound } from '../api/http/problem.js';
import { IsText } from '../api/http/rules.js';
import { timeOf } from '../api/http/values.js';

class AcknowledgeDto {
  @ApiProperty({ type: String, maxLength: 1000, description: 'Why it may stand; people will read it later.' })
  @IsText(1000)
  note!: string;
}

class AcknowledgedView {
  @Text() note!: string;
  @Text("An API key's name, or who used the command line.") by!: string;
  @Time() at!: string;
}

class DifferenceView {
  @Text('The same in each run while kind, subject and facts are the same.') id!: string;
  @Word(differenceKinds) kind!: string;
  @TextIfAny() invoice_id?: string | undefined;
  @TextIfAny() payment_id?: string | undefined;
  @TextIfAny() refund_id?: string | undefined;
  @TextIfAny() event_id?: string | undefined;
  @TextIfAny('What else on Stripe it is about: a credit note, a payment record, a balance entry.')
  object_id?: string | undefined;
  @Text('What differs, in words.') detail!: string;
  @Word(['look-again', 'take-in-event', 'person']) repair!: string;
  @TextIfAny('Its open review item.') review_id?: string | undefined;
  @ApiProperty({ type: AcknowledgedView, required: false, description: 'Left out when nobody has acknowledged it.' })
  acknowledged?: AcknowledgedView | undefined;
}

@ApiTags('Verify')
@Controller('v1/verify/differences')
export class VerifyController {
  constructor(
    private readonly books: VerifyStore,
    private readonly clock: Clock,
  ) {}

  @Get()
  @MayRead('read', 'verify.list')
  @ApiOperation({
    operationId: 'listDifferences',
    summary: 'What the newest verify run found (role: read)',
    description: 'In the order of finding. A cursor is good until the next run.',
  })
  @ApiOkResponse({ type: pageOf(DifferenceView) })
  @Problems({ 400: '`invalid_request`: `limit` or `cursor` is wrong.' })
  async list(@Query() q: PageQuery): Promise<PageView<DifferenceView>> {
    const { limit, cursor } = pageRequest(q);
    const all = (await this.books.last())?.differences ?? [];
    const from = cursor === null ? 0 : all.findIndex((d) => differenceId(d) === cursor);
    if (from < 0) throw invalid('cursor', 'is not one of the newest run');
    const next = all[from + limit];
    return pageView(
      { data: all.slice(from, from + limit), nextCursor: next === undefined ? null : differenceId(next) },
      differenceView,
    );
  }

  @Post(':id/acknowledge')
  @HttpCode(200)
  @MayChange('ops', 'verify.acknowledge', { outside: false })
  @ApiOperation({
    operationId: 'acknowledgeDifference',
    summary: 'Acknowledge a difference (role: ops)',
    description:
      'Every run then counts it apart until its facts change: another amount is another difference. A second note replaces the first.',
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

function differenceView(d: Difference): DifferenceView {
  const { acknowledged } = d;
  return {
    id: differenceId(d),
    kind: d.kind,
    invoice_id: d.invoiceId ?? undefined,
    payment_id: d.paymentId ?? undefined,
    refund_id: d.refundId ?? undefined,
    event_id: d.eventId ?? undefined,
    object_id: d.objectId ?? undefined,
    detail: d.detail,
    repair: d.repair,
    review_id: d.reviewId ?? undefined,
    acknowledged: acknowledged ? { ...acknowledged, at: timeOf(acknowledged.at) } : undefined,
  };
}

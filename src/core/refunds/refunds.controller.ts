// Refunds: an operator requests a refund, the workers send it to the MoR, and the API waits a while for the reply.
import { Body, Controller, Get, Param, Post, Query, Req, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request, type Response } from 'express';
import { RefundsRepository } from './refunds.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { RefundReplies } from './refund-replies.js';
import { RefundsService } from './refunds.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, Problems } from '../../frames/api/http/docs.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../../frames/api/http/filters.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { paymentRequestName, requiredIdempotencyKey } from '../../frames/api/http/idempotency.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound, Problem, valueOrProblem } from '../../frames/api/http/problem.js';
import { Filter } from '../../frames/api/http/rules.js';
import { CreateRefundDto } from './refund.dto.js';
import { listedRefundView, REFUND_STATUSES, refundStatuses, RefundView } from './refund.view.js';
import { REPLY_TIMEOUT_MS } from '../../shared/policy.js';

class RefundsQuery extends PageQuery {
  @Filter('Only this status.', REFUND_STATUSES) status?: (typeof REFUND_STATUSES)[number];
  @Filter("Only this invoice's.") invoice_id?: string;
  @Since('the time of success, or of the request if there is no success yet') since?: string;
  @Until() until?: string;
  @CurrencyFilter() currency?: string;
  @AmountFilter('of the refund') amount?: string;
  @CustomerFilter() customer?: string;
}

@ApiTags('Refunds')
@Controller('v1')
export class RefundsController {
  constructor(
    private readonly service: RefundsService,
    private readonly replies: RefundReplies,
    private readonly books: ReadModel,
    private readonly refunds: RefundsRepository,
  ) {}

  @Post('payments/:id/refunds')
  @MayChange('ops', 'refund.create')
  @ApiOperation({
    operationId: 'createRefund',
    summary: 'Refund a payment, fully or in part (role: ops)',
    description:
      "The MoR refunds the payment, then Crossbill shows the refund on Stripe. The same Idempotency-Key with the same body returns the same refund in its present state, never a second one. This holds for either id of the payment, and after a restored backup: Crossbill derives the MoR's key from API key name, payment and Idempotency-Key.",
  })
  @KeyHeader(true)
  @ApiCreatedResponse({
    type: RefundView,
    description: 'The MoR answered: `succeeded`, `pending` (bank debit) or `failed`.',
  })
  @ApiAcceptedResponse({
    type: RefundView,
    description:
      'Status `unknown`: the MoR has not answered. The amount stays reserved. Crossbill repeats the request under the same key, so it makes no second refund.',
  })
  @Problems({
    400: '`invalid_request`: a wrong field, no Idempotency-Key, or an amount above the rest of the payment.',
    404: '`payment_not_found`',
    409: '`idempotency_conflict` (also when the MoR knows the key with another body, as after a restored backup), `payment_disputed` (a dispute is undecided, and `despite_dispute` is not true), `payment_not_identified` (Crossbill has no id of the MoR for this payment yet)',
    415: '`unsupported_media_type`',
    422: '`payment_not_refundable`: the payment never succeeded, is fully refunded, or was lost to a bank.',
  })
  async create(
    @Param('id', IdPipe) id: string,
    @Body() dto: CreateRefundDto,
    @Req() req: Request,
    @Res({ passthrough: true }) res: Response,
    @CurrentCaller() caller: Caller,
  ): Promise<RefundView> {
    const key = requiredIdempotencyKey(req);
    const done = await this.service.request(
      id,
      {
        amount: dto.amount === undefined ? null : BigInt(dto.amount),
        reason: dto.reason ?? null,
        metadata: dto.metadata ?? null,
        by: caller.name,
        despiteDispute: dto.despite_dispute === true,
      },
      paymentRequestName(caller, key, req.body),
    );
    const answered = await this.replies.of(valueOrProblem(done).id, REPLY_TIMEOUT_MS);
    const { refund } = answered;
    // A failure with an HTTP status is the MoR's refusal of the request. Without a status, the MoR accepted the request
    // and the refund failed later.
    if (typeof refund.failure?.status === 'number') {
      throw new Problem(refund.failure.status, refund.failure.code ?? 'mor_refused', refund.failure.message);
    }
    res.status(refund.status === 'requested' || refund.status === 'unknown' ? 202 : 201);
    return listedRefundView(answered);
  }

  @Get('refunds')
  @MayRead('read', 'refund.list')
  @ApiOperation({ operationId: 'listRefunds', summary: 'Refunds, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(RefundView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: RefundsQuery): Promise<PageView<RefundView>> {
    const filter = {
      ...moneyOf(query),
      statuses: query.status && refundStatuses(query.status),
      invoiceId: query.invoice_id,
    };
    return pageView(await this.refunds.list(filter, pageRequest(query)), listedRefundView);
  }

  @Get('refunds/:id')
  @MayRead('read', 'refund.read')
  @ApiOperation({ operationId: 'getRefund', summary: "A refund, by our id or the MoR's `rfnd_…` (role: read)" })
  @ApiOkResponse({ type: RefundView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<RefundView> {
    const found = await this.books.refund(id);
    if (found === null) throw notFound('refund');
    return listedRefundView(found);
  }
}

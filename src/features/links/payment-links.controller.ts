// The API's routes for payment links. A payment link is a hosted page for one payment of an invoice, after a failed
// renewal or for authentication (Document 2).
import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { ReadModel } from '../../engine/read-model.js';
import { MorObjectsService } from '../../core/mor-objects/mor-objects.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, Problems } from '../../frames/api/http/docs.js';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { morProblem, notFound } from '../../frames/api/http/problem.js';
import { ObjectReplies } from '../../core/mor-objects/object-replies.js';
import { CreatePaymentLinkDto } from '../../core/mor-objects/mor-object.dto.js';
import { PaymentLinkView, paymentLinkView } from '../../core/mor-objects/mor-object.view.js';
import { PaymentLinksService } from './payment-links.service.js';
import { linkLookup } from './rules/link.js';

@ApiTags('Payment links')
@Controller('v1/invoices/:id/payment-link')
export class PaymentLinksController {
  constructor(
    private readonly service: MorObjectsService,
    private readonly replies: ObjectReplies,
    private readonly books: ReadModel,
    private readonly links: PaymentLinksService,
  ) {}

  @Post()
  @HttpCode(201)
  @MayChange('ops', 'payment_link.create')
  @ApiOperation({
    operationId: 'createPaymentLink',
    summary: 'Make a payment link for the amount due on an invoice (role: ops)',
    description:
      'An invoice has at most one payable link at a time: Crossbill returns this link instead of a second one. Crossbill marks the invoice paid once the MoR confirms the payment, not when the customer returns.',
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: PaymentLinkView })
  @Problems({
    400: '`invalid_request`, or the `validation_error` of the MoR.',
    404: '`not_found`: no such invoice.',
    409: '`invoice_not_payable`: the invoice is paid or void, or money for it is under way or waits for a person; `invoice_changed`: ask again; `idempotency_conflict`, `no_active_arrangement`, `unsupported_outpost_role`',
    502: '`mor_unavailable`: no answer yet; Crossbill repeats the request.',
  })
  async create(
    @Param('id', InvoiceIdPipe) id: string,
    @Body() dto: CreatePaymentLinkDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<PaymentLinkView> {
    const key = idempotencyKey(req);
    const name = key === null ? null : requestName(caller, `/v1/invoices/${id}/payment-link`, key, req.body);
    return paymentLinkView(await this.links.create(id, dto, caller.name, name));
  }

  @Get()
  @MayRead('ops', 'payment_link.read')
  @ApiOperation({
    operationId: 'getPaymentLink',
    summary: 'The payment link of an invoice, as the MoR has it now (role: ops)',
  })
  @ApiOkResponse({ type: PaymentLinkView })
  @Problems({ 404: '`not_found`', 502: '`mor_unavailable`' })
  async read(@Param('id', InvoiceIdPipe) id: string): Promise<PaymentLinkView> {
    const objects = await this.books.objects(id);
    const made = objects.findLast(
      (o) => o.kind === 'payment_link' && o.status !== 'REFUSED' && o.status !== 'REPLACED',
    );
    if (made === undefined) throw notFound('payment link');
    const named = made.morId === null ? await this.replies.of(made) : made;
    const { row, outcome } = await this.service.refresh(linkLookup, named);
    if (!outcome.ok) throw morProblem(outcome);
    if (row.status === 'DELETED' || outcome.value === null) throw notFound('payment link');
    return paymentLinkView(row);
  }
}

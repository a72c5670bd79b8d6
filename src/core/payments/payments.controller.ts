// The API of payments: the MoR's charges for an invoice, successful or not.
import { Body, Controller, Get, HttpCode, Param, Post, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { PaymentsRepository } from './payments.repository.js';
import { ReadModel } from '../../engine/read-model.js';
import { PaymentsService } from './payments.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { Example, Problems, Text } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../../frames/api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound, valueOrProblem } from '../../frames/api/http/problem.js';
import { Filter, IsPaymentId } from '../../frames/api/http/rules.js';
import { PAYMENT_STATUSES, PaymentView, paymentView } from './payment.view.js';

class PaymentsQuery extends PageQuery {
  @Filter('Only this status.', PAYMENT_STATUSES) status?: string;
  @Since("when the MoR took the money; before that, its last verdict, or Crossbill's first record") since?: string;
  @Until() until?: string;
  @CurrencyFilter() currency?: string;
  @AmountFilter('the whole payment, before refunds') amount?: string;
  @CustomerFilter() customer?: string;
  @Filter('The same as `customer`.') customer_id?: string;
  @Filter("Only this invoice's.") invoice_id?: string;
}

class IdentifyPaymentDto {
  @Example('pay_123') @Text("The MoR's own id of the payment.") @IsPaymentId() payment_id!: string;
}

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(
    private readonly books: ReadModel,
    private readonly payments: PaymentsRepository,
    private readonly service: PaymentsService,
  ) {}

  @Get()
  @MayRead('read', 'payment.list')
  @ApiOperation({ operationId: 'listPayments', summary: 'Payments, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(PaymentView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: PaymentsQuery): Promise<PageView<PaymentView>> {
    const filter = { ...moneyOf(query), status: query.status, invoiceId: query.invoice_id };
    return pageView(await this.payments.list(filter, pageRequest(query)), paymentView);
  }

  @Get(':id')
  @MayRead('read', 'payment.read')
  @ApiOperation({
    operationId: 'getPayment',
    summary: 'A payment with its refunds, by `pay_…` or our own id (role: read)',
  })
  @ApiOkResponse({ type: PaymentView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<PaymentView> {
    const found = await this.books.payment(id);
    if (found === null) throw notFound('payment');
    return paymentView(found);
  }

  @Post(':id/identify')
  @HttpCode(200)
  @MayChange('ops', 'payment.identify')
  @ApiOperation({
    operationId: 'identifyPayment',
    summary: "Give a payment the MoR's own id, so you can refund it (role: ops)",
    description:
      'For a payment of a signup, link or transfer without a `pay_…` from an event of the MoR. The same id again changes nothing. The MoR refuses an unknown id at the first refund (404 `payment_not_found`), and Crossbill removes the id.',
  })
  @ApiOkResponse({ type: PaymentView })
  @Problems({
    400: '`invalid_request`',
    404: '`payment_not_found`',
    409: '`payment_already_identified`, `payment_id_taken` (the message names the payment with this id)',
  })
  async identify(
    @Param('id', IdPipe) id: string,
    @Body() dto: IdentifyPaymentDto,
    @CurrentCaller() caller: Caller,
  ): Promise<PaymentView> {
    const named = valueOrProblem(await this.service.identify(id, dto.payment_id, caller.name));
    const found = await this.books.payment(named.id);
    if (found === null) throw notFound('payment');
    return paymentView(found);
  }
}

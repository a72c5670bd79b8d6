// Payments: what the MoR took, or tried to take, for an invoice.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Books } from '../../domain/ports/books.js';
import { MayRead } from '../access/access.js';
import { Problems } from '../http/docs.js';
import { IdPipe } from '../http/id.pipe.js';
import { given, pageOf, PageQuery, pageRequest, type PageView, pageView } from '../http/page.js';
import { notFound } from '../http/problem.js';
import { Filter } from '../http/rules.js';
import { PAYMENT_STATUSES, PaymentView, paymentView } from './payment.view.js';

class PaymentsQuery extends PageQuery {
  @Filter('Only this status.', PAYMENT_STATUSES) status?: string;
  @Filter("Only this customer's.") customer_id?: string;
  @Filter("Only this invoice's.") invoice_id?: string;
}

@ApiTags('Payments')
@Controller('v1/payments')
export class PaymentsController {
  constructor(private readonly books: Books) {}

  @Get()
  @MayRead('read', 'payment.list')
  @ApiOperation({ summary: 'Payments, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(PaymentView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() q: PaymentsQuery): Promise<PageView<PaymentView>> {
    const filter = given({ status: q.status, customerId: q.customer_id, invoiceId: q.invoice_id });
    return pageView(await this.books.payments(filter, pageRequest(q)), paymentView);
  }

  @Get(':id')
  @MayRead('read', 'payment.read')
  @ApiOperation({ summary: 'A payment with its refunds, by `pay_…` or our own id (role: read)' })
  @ApiOkResponse({ type: PaymentView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<PaymentView> {
    const found = await this.books.payment(id);
    if (found === null) throw notFound('payment');
    return paymentView(found);
  }
}

// The API's routes for invoices: the list, and one invoice with its whole history.
import { Controller, Get, Param, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { InvoicesRepository } from './invoices.repository.js';
import { InvoiceViews } from './invoice-views.service.js';
import { MayRead } from '../../frames/api/access/access.js';
import { Problems } from '../../frames/api/http/docs.js';
import { InvoiceIdPipe } from '../../frames/api/http/id.pipe.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../../frames/api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { notFound } from '../../frames/api/http/problem.js';
import { Filter } from '../../frames/api/http/rules.js';
import { INVOICE_STATUSES, InvoiceListView, invoiceListView, InvoiceView } from './invoice.view.js';

class InvoicesQuery extends PageQuery {
  @Filter('Only this status.', INVOICE_STATUSES) status?: string;
  @Since('when Stripe made it') since?: string;
  @Until() until?: string;
  @CurrencyFilter() currency?: string;
  @AmountFilter('the amount due') amount?: string;
  @CustomerFilter() customer?: string;
  @Filter('The same as `customer`.') customer_id?: string;
}

@ApiTags('Invoices')
@Controller('v1/invoices')
export class InvoicesController {
  constructor(
    private readonly invoices: InvoicesRepository,
    private readonly views: InvoiceViews,
  ) {}

  @Get()
  @MayRead('read', 'invoice.list')
  @ApiOperation({
    operationId: 'listInvoices',
    summary: 'Invoices, newest first, without their timelines (role: read)',
  })
  @ApiOkResponse({ type: pageOf(InvoiceListView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: InvoicesQuery): Promise<PageView<InvoiceListView>> {
    const page = await this.invoices.list({ ...moneyOf(query), status: query.status }, pageRequest(query));
    return pageView(page, invoiceListView);
  }

  @Get(':id')
  @MayRead('read', 'invoice.read')
  @ApiOperation({
    operationId: 'getInvoice',
    summary: 'An invoice with its differences, payments, attempts, refunds, reviews and timeline (role: read)',
  })
  @ApiOkResponse({ type: InvoiceView })
  @Problems({
    404: '`not_found`',
    409: '`newer_format`: only a newer release can read the log of the invoice. `log_unreadable`: the log is damaged.',
  })
  async one(@Param('id', InvoiceIdPipe) id: string): Promise<InvoiceView> {
    const found = await this.views.of(id);
    if (found === null) throw notFound('invoice');
    return found;
  }
}

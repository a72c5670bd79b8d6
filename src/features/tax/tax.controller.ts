// Tax for the merchant's backend: calculations, transactions and their refunds. The fields have Document 2's names, and
// Crossbill checks each request before it sends the request to the MoR.
import {
  taxCalculationRequest,
  TaxCalculations,
  taxRefundRequest,
  taxTransactionRequest,
  TaxTransactions,
} from '@crossbill/mor';
import { Body, Controller, Get, HttpCode, Param, Post, Query, Res } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Response } from 'express';
import { minorFromDecimal, money } from '../../shared/domain/money.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { MorBody, PendingView, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { answeredOrThrow, checkedRequest } from '../../frames/api/http/mor-reply.js';
import {
  TaxCalculationView,
  TaxInvoiceView,
  TaxRefundView,
  TaxTransactionsView,
  TaxTransactionView,
} from './tax.schema.js';
import { TaxTotalsRepository } from '../../core/signups/tax-totals.repository.js';
import { taxPageOf, TaxTransactionsQuery } from './tax.dto.js';
import { calculationView, type Shown, taxRefundView, transactionView } from './tax.view.js';

/** The Retry-After for an unfinished file if the MoR names none, in seconds. */
const RETRY_AFTER_SEC = 2;

const UNAVAILABLE = '`mor_unavailable`: the MoR gave no usable answer. A repeat is safe.';

@ApiTags('Tax')
@Controller('v1/tax')
export class TaxController {
  constructor(
    private readonly calculations: TaxCalculations,
    private readonly transactions: TaxTransactions,
    private readonly totals: TaxTotalsRepository,
  ) {}

  @Repeatable()
  @Post('calculations')
  @HttpCode(201)
  @MayRead('signup', 'tax.calculate')
  @ApiOperation({
    operationId: 'calculateTax',
    summary: 'Calculate tax (role: signup)',
    description: 'You can use a calculation once, within 7 days. Fields as in the MoR’s POST /api/tax/calculations.',
  })
  @MorBody(taxCalculationRequest)
  @ApiCreatedResponse({ type: TaxCalculationView })
  @Problems({
    400: '`invalid_argument`, `missing_country_of_origin`, `missing_classification_text`, `shipping_address_required`, `invalid_state`',
    409: '`region_not_activated`, `region_not_supported`, `physical_goods_not_supported`, `integration_credentials_invalid`, `integration_not_configured`',
    422: '`nfse_validation_failed`',
    502: UNAVAILABLE,
  })
  async calculate(@Body() body: unknown): Promise<Shown> {
    const request = checkedRequest(taxCalculationRequest.check(body));
    const made = answeredOrThrow(await this.calculations.create(request));
    const total = minorFromDecimal(made.totalAmount, made.currency);
    if (total !== null) await this.totals.keep(made.taxCalculationId, money(total, made.currency));
    return calculationView(made);
  }

  @Repeatable()
  @Post('transactions')
  @HttpCode(200)
  @MayChange('signup', 'tax.transaction.create')
  @ApiOperation({
    operationId: 'createTaxTransaction',
    summary: 'Commit a calculation after its payment succeeded (role: signup)',
    description: '`merchantTransactionReference` is the idempotency key: a repeat gives the same transaction.',
  })
  @MorBody(taxTransactionRequest)
  @ApiOkResponse({ type: TaxTransactionView })
  @Problems({ 400: '`invalid_argument`, `invalid_state`', 404: '`not_found`: no such calculation.', 502: UNAVAILABLE })
  async commit(@Body() body: unknown): Promise<Shown> {
    const request = checkedRequest(taxTransactionRequest.check(body));
    return transactionView(answeredOrThrow(await this.transactions.create(request)));
  }

  @Get('transactions')
  @MayRead('signup', 'tax.transaction.list')
  @ApiOperation({ operationId: 'listTaxTransactions', summary: 'Tax transactions, newest first (role: signup)' })
  @ApiOkResponse({ type: TaxTransactionsView })
  @Problems({ 400: '`invalid_argument`: `size` or `cursor`.', 502: UNAVAILABLE })
  async list(@Query() query: TaxTransactionsQuery): Promise<Shown> {
    const page = answeredOrThrow(await this.transactions.list(taxPageOf(query)));
    const transactions = page.transactions.map(transactionView);
    return page.nextCursor === null ? { transactions } : { transactions, nextCursor: page.nextCursor };
  }

  @Get('transactions/:id')
  @MayRead('signup', 'tax.transaction.read')
  @ApiOperation({ operationId: 'getTaxTransaction', summary: 'A tax transaction (role: signup)' })
  @ApiOkResponse({ type: TaxTransactionView })
  @Problems({ 400: '`invalid_argument`', 404: '`not_found`', 502: UNAVAILABLE })
  async one(@Param('id', IdPipe) id: string): Promise<Shown> {
    return transactionView(answeredOrThrow(await this.transactions.read(id)));
  }

  @Get('transactions/:id/refunds')
  @MayRead('signup', 'tax.refund.list')
  @ApiOperation({ operationId: 'listTaxRefunds', summary: 'Refunds on a tax transaction (role: signup)' })
  @ApiOkResponse({ type: [TaxRefundView] })
  @Problems({ 400: '`invalid_argument`', 404: '`not_found`', 502: UNAVAILABLE })
  async refunds(@Param('id', IdPipe) id: string): Promise<readonly Shown[]> {
    return answeredOrThrow(await this.transactions.listRefunds(id)).map(taxRefundView);
  }

  @Repeatable()
  @Post('transactions/:id/refunds')
  @HttpCode(200)
  @MayChange('signup', 'tax.refund.create')
  @ApiOperation({
    operationId: 'createTaxRefund',
    summary: 'Make a tax refund for lines of a tax transaction (role: signup)',
    description: '`merchantRefundReference` is the idempotency key. A line without an amount refunds all that remains.',
  })
  @MorBody(taxRefundRequest)
  @ApiOkResponse({ type: TaxRefundView })
  @Problems({ 400: '`invalid_argument`, `invalid_state`', 404: '`not_found`', 502: UNAVAILABLE })
  async refund(@Param('id', IdPipe) id: string, @Body() body: unknown): Promise<Shown> {
    const request = checkedRequest(taxRefundRequest.check(body));
    return taxRefundView(answeredOrThrow(await this.transactions.refund(id, request)));
  }

  @Get('transactions/:id/invoice')
  @MayRead('signup', 'tax.transaction.invoice')
  @ApiOperation({
    operationId: 'getTaxInvoice',
    summary: 'A link to the tax invoice, valid for an hour (role: signup)',
  })
  @ApiOkResponse({ type: TaxInvoiceView })
  @ApiAcceptedResponse({ type: PendingView, description: 'Not ready yet: ask again after Retry-After seconds.' })
  @Problems({ 400: '`invalid_argument`', 404: '`not_found`', 502: UNAVAILABLE })
  async invoice(@Param('id', IdPipe) id: string, @Res({ passthrough: true }) res: Response): Promise<Shown> {
    const invoice = answeredOrThrow(await this.transactions.invoice(id));
    if (invoice.state === 'pending') {
      const waitMs = invoice.retryAfterMs ?? RETRY_AFTER_SEC * 1000;
      res.status(202).setHeader('Retry-After', String(Math.max(1, Math.ceil(waitMs / 1000))));
      return { status: 'pending' };
    }
    const { fileName, url, expiresAt } = invoice.value;
    return {
      b2cInvoice: {
        ...(fileName === null ? {} : { fileName }),
        url,
        ...(expiresAt === null ? {} : { expiresAt: expiresAt.toISOString() }),
      },
    };
  }
}

// A new card or bank account for a customer: its setup intent, and the report of its confirmation.
import { Body, Controller, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { MayChange } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { UNSENT } from '../../shared/domain/ports/call.js';
import { idempotencyConflict, idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { canonicalJson } from '../../frames/api/http/json-body.js';
import { invalid, invoiceUnread, morProblem, Problem, refusalProblem } from '../../frames/api/http/problem.js';
import { InvoiceViews } from '../invoices/invoice-views.service.js';
import { ConfirmedMethodView, methodMadeView, PaymentMethodMadeView } from './payment-method.view.js';
import { ConfirmPaymentMethodDto, CreatePaymentMethodDto } from './payment-methods.dto.js';
import { PaymentMethodsService } from './payment-methods.service.js';

@ApiTags('Customers')
@Controller('v1/customers/:id/payment-method')
export class PaymentMethodsController {
  constructor(
    private readonly service: PaymentMethodsService,
    private readonly invoices: InvoiceViews,
  ) {}

  @Post()
  @HttpCode(201)
  @MayChange('signup', 'payment_method.create')
  @ApiOperation({
    operationId: 'createPaymentMethod',
    summary: 'Make a setup intent for another card or account (role: signup)',
    description:
      "The customer's browser confirms it with `client_secret`; then report the confirmation with `…/payment-method/confirmed`. The same Idempotency-Key with the same body gives the same setup, with its client secret as the MoR repeats it.",
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: PaymentMethodMadeView })
  @Problems({
    400: '`invalid_request`, or what the MoR found malformed.',
    404: '`tax_calculation_not_found`',
    409: '`customer_not_enrolled`: ENROLMENT excludes this customer; `idempotency_conflict`: this key came with another body.',
    415: '`unsupported_media_type`',
    422: '`validation_error`: refused by the MoR.',
    429: '`rate_limited`: see Retry-After.',
    502: '`mor_unavailable`: send the same request again with the same key. `mor_unauthorized`: MOR_CLIENT_ID or MOR_CLIENT_SECRET is wrong. `billing_unavailable`: Crossbill could not read from Stripe whether the customer is enrolled, and did nothing.',
  })
  async create(
    @Param('id', IdPipe) id: string,
    @Body() dto: CreatePaymentMethodDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<PaymentMethodMadeView> {
    const key = idempotencyKey(req);
    const name = key === null ? null : requestName(caller, `/v1/customers/${id}/payment-method`, key, req.body);
    const request = {
      customerId: id,
      paymentMethodTypes: dto.payment_method_types ?? null,
      taxCalculationId: dto.tax_calculation_id ?? null,
      by: caller.name,
    };
    const made = await this.service.create(request, name, canonicalJson(req.body));
    switch (made.outcome) {
      case 'made':
        return methodMadeView(made.signup, made.intent);
      case 'conflict':
        throw idempotencyConflict();
      case 'not_enrolled':
        throw new Problem(409, 'customer_not_enrolled', `Customer ${id} is not enrolled: ${made.why}.`);
      case 'unknown':
        throw new Problem(502, 'billing_unavailable', 'Stripe did not show if the customer is enrolled: try again.');
      case 'failed':
      case 'tax_failed':
        throw morProblem(made.failure);
      case 'refused':
        throw refusalProblem(made.refusal);
      case 'invoice_unread':
        throw invoiceUnread(made.failure);
      case 'tax_differs':
        throw invalid('tax_calculation_id', 'is for another amount');
    }
  }

  @Post('confirmed')
  @Repeatable()
  @HttpCode(202)
  @MayChange('signup', 'payment_method.confirm')
  @ApiOperation({
    operationId: 'confirmPaymentMethod',
    summary: "Report that the customer's browser confirmed a setup (role: signup)",
    description:
      "Name the setup: without `setup_intent_id` it is the customer's newest. Crossbill retries the customer's open refused renewals at once, whatever the decline and the schedule. With a relay, the MoR charges again. Without a relay, each gets a payment link. A repeated report changes nothing.",
  })
  @ApiAcceptedResponse({ type: ConfirmedMethodView })
  @Problems({
    404: '`not_found`: no such customer, or `setup_intent_id` is not one of this customer.',
    409: '`payment_method_missing`: Crossbill made no setup intent for this customer; `' + UNSENT.code + '`',
  })
  async confirmed(
    @Param('id', IdPipe) id: string,
    @Body() dto: ConfirmPaymentMethodDto,
    @CurrentCaller() caller: Caller,
  ): Promise<ConfirmedMethodView> {
    const done = await this.service.confirm(id, dto.setup_intent_id ?? null, caller.name);
    if (!done.ok) throw refusalProblem(done);
    const found = await Promise.all(done.invoiceIds.map((invoice) => this.invoices.of(invoice)));
    return {
      customer_id: id,
      payment_method_id: done.method.id,
      reported_at: done.method.at,
      data: found.flatMap((v) => v ?? []),
    };
  }
}

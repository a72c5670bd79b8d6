// The API of signups. The merchant's backend makes a signup, reads it, and completes it with the browser's charge.
import { encodeTaxCalculation, taxCalculationRequest } from '@crossbill/mor';
import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiAcceptedResponse, ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { parseCurrency, showMoney } from '../../shared/domain/money.js';
import { ReadModel } from '../../engine/read-model.js';
import { SignupsRepository } from './signups.repository.js';
import { SignupService } from './signup.service.js';
import { MayChange, MayRead } from '../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../frames/api/access/caller.js';
import { KeyHeader, Problems, Repeatable } from '../../frames/api/http/docs.js';
import { IdPipe } from '../../frames/api/http/id.pipe.js';
import { idempotencyConflict, idempotencyKey, requestName } from '../../frames/api/http/idempotency.js';
import { canonicalJson } from '../../frames/api/http/json-body.js';
import { checkedRequest, fieldWithin } from '../../frames/api/http/mor-reply.js';
import { invalid, invoiceUnread, morProblem, notFound, refusalProblem } from '../../frames/api/http/problem.js';
import { paymentView } from '../payments/payment.view.js';
import { paymentName } from '../../shared/domain/payment-name.js';
import { CompleteSignupDto, CreateSignupDto } from './signup.dto.js';
import { signupField, signupRequest, type SignupTax } from './signup-request.js';
import {
  CompletedSignupView,
  missingParts,
  SignupMadeView,
  signupMadeView,
  SignupView,
  signupView,
} from './signup.view.js';

const PATH = '/v1/signups';

@ApiTags('Signups')
@Controller('v1/signups')
export class SignupsController {
  constructor(
    private readonly service: SignupService,
    private readonly signups: SignupsRepository,
    private readonly books: ReadModel,
  ) {}

  @Post()
  @HttpCode(201)
  @MayChange('signup', 'signup.create')
  @ApiOperation({
    operationId: 'createSignup',
    summary: 'Make a signup (role: signup)',
    description:
      'A `payment` takes money now (payment intent), a `trial` saves the payment method (setup intent). With `invoice_id` Crossbill first compares the payment with the invoice on Stripe: a difference is refused before anybody pays. The same Idempotency-Key with the same body gives the same signup, with its client secret as the MoR repeats it.',
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: SignupMadeView })
  @Problems({
    400: '`invalid_request`, or what the MoR found malformed.',
    404: '`not_found`: Stripe has no such invoice; `tax_calculation_not_found`',
    409: '`amount_differs_from_invoice`: the message has both sums; `invoice_not_payable`, `customer_differs`; `idempotency_conflict`: this key came with another body.',
    415: '`unsupported_media_type`',
    422: '`validation_error`, `unsupported_currency`, `amount_out_of_range`: refused by the MoR.',
    429: '`rate_limited`: see Retry-After.',
    502: '`mor_unavailable`: send the same request again with the same key. `mor_unauthorized`: MOR_CLIENT_ID or MOR_CLIENT_SECRET is wrong. `billing_unavailable`: Stripe did not show the invoice; nothing was done.',
  })
  async create(
    @Body() dto: CreateSignupDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<SignupMadeView> {
    const key = idempotencyKey(req);
    const request = signupRequest(dto, taxOf(dto), caller.name);
    const name = key === null ? null : requestName(caller, PATH, key, req.body);
    const made = await this.service.create(request, name, canonicalJson(req.body));
    switch (made.outcome) {
      case 'made':
        return signupMadeView(made.signup, made.intent);
      case 'conflict':
        throw idempotencyConflict();
      case 'refused':
        throw refusalProblem(made.refusal);
      case 'invoice_unread':
        throw invoiceUnread(made.failure);
      case 'tax_failed':
        throw morProblem(made.failure, (field) => fieldWithin('tax', field));
      case 'tax_differs': {
        const total = made.total === null ? 'another amount' : showMoney(made.total);
        throw invalid('amount', `must be the total of the tax calculation (${total})`);
      }
      case 'failed':
        throw morProblem(made.failure, signupField);
    }
  }

  @Get(':id')
  @MayRead('read', 'signup.read')
  @ApiOperation({ operationId: 'getSignup', summary: 'A signup, without its client secret (role: read)' })
  @ApiOkResponse({ type: SignupView })
  @Problems({ 404: '`not_found`' })
  async one(@Param('id', IdPipe) id: string): Promise<SignupView> {
    const signup = await this.signups.find(id);
    if (signup === null || signup.kind === 'method') throw notFound('signup');
    const found = signup.paymentRowId === null ? null : await this.books.payment(signup.paymentRowId);
    const payment = found === null ? null : { name: paymentName(found.payment), row: found.payment };
    return signupView(signup, payment, (await this.signups.proven([id])).has(id));
  }

  @Post(':id/complete')
  @Repeatable()
  @HttpCode(202)
  @MayChange('signup', 'signup.complete')
  @ApiOperation({
    operationId: 'completeSignup',
    summary: "Name the charge of the browser's result (role: signup)",
    description:
      'The charge becomes the payment of the first invoice: Crossbill records it, proves it with the MoR, and marks the invoice paid. A repeat changes nothing, except that it may add `payment_id`.',
  })
  @ApiAcceptedResponse({ type: CompletedSignupView })
  @Problems({
    400: '`invalid_request`',
    404: '`not_found`',
    409: '`charge_already_used`, `payment_id_taken`, `payment_already_identified`, `signup_already_completed`, `signup_not_ready`, `signup_has_no_payment`',
  })
  async complete(@Param('id', IdPipe) id: string, @Body() dto: CompleteSignupDto): Promise<CompletedSignupView> {
    const currency = parseCurrency(dto.currency);
    if (currency === null) throw invalid('currency', 'must be a currency code of three letters (ISO 4217)');
    const { charge_id: chargeId, invoice_id: invoiceId } = dto;
    const paymentId = dto.payment_id ?? null;
    const charge = { chargeId, invoiceId, amount: BigInt(dto.amount), currency, paymentId };
    const done = await this.service.complete(id, charge);
    if (!done.ok) throw refusalProblem(done);
    const found = await this.books.payment(done.payment.id);
    const { morCustomerId } = done.signup;
    const payment = found ?? { payment: done.payment, morCustomerId, invoiceNumber: null, refunds: [] };
    const named = { name: paymentName(payment.payment), row: payment.payment };
    const signup = signupView(done.signup, named, (await this.signups.proven([id])).has(id));
    return { ...signup, payment: paymentView(payment), missing: missingParts(payment.payment) };
  }
}

/**
 * The tax calculation to bind. Checks `tax` field by field before any call. The currency of `tax` must be the
 * payment's. The service compares the calculation's total with the amount.
 */
function taxOf(dto: CreateSignupDto): SignupTax {
  if (dto.tax === undefined) return { id: dto.tax_calculation_id ?? null, calculation: null };
  if (dto.tax_calculation_id !== undefined) throw invalid('tax_calculation_id', 'cannot be given together with tax');
  const request = checkedRequest(taxCalculationRequest.check(dto.tax), 'tax');
  if (dto.currency !== undefined && parseCurrency(dto.currency) !== parseCurrency(request.currency)) {
    throw invalid('currency', 'must be the currency of tax');
  }
  return { id: null, calculation: encodeTaxCalculation(request) };
}

// A hosted link on which the customer pays an invoice once: for renewals that failed or need authentication (Document 2).
import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { messageKey } from '../domain/lane/change.js';
import { decimalFromMinor } from '../domain/money.js';
import { Books } from '../domain/ports/books.js';
import { type WireRequest } from '../domain/ports/call.js';
import { Ids } from '../domain/ports/clock.js';
import { ChannelFlow } from '../channels/channel.flow.js';
import { encodePaymentLink } from '../mor/payment-links.js';
import { checkPaymentLink } from '../mor/requests/payment-link.js';
import { MayChange, MayRead } from '../api/access/access.js';
import { type Caller, CurrentCaller } from '../api/access/caller.js';
import { KeyHeader, Problems } from '../api/http/docs.js';
import { InvoiceIdPipe } from '../api/http/id.pipe.js';
import { idempotencyKey, requestName } from '../api/http/idempotency.js';
import { morProblem, notFound, Problem, refusalProblem } from '../api/http/problem.js';
import { ChannelAnswers } from '../channels/channel-answers.js';
import { CreatePaymentLinkDto } from '../channels/channel.dto.js';
import { PaymentLinkView, paymentLinkView } from '../channels/channel.view.js';
import { callersField, wireOrProblem } from '../channels/callers-words.js';
import { readBilled } from '../channels/read-billed.js';

@ApiTags('Payment links')
@Controller('v1/invoices/:id/payment-link')
export class PaymentLinksController {
  constructor(
    private readonly flow: ChannelFlow,
    private readonly answers: ChannelAnswers,
    private readonly books: Books,
    private readonly ids: Ids,
  ) {}

  @Post()
  @HttpCode(201)
  @MayChange('ops', 'payment_link.create')
  @ApiOperation({
    operationId: 'createPaymentLink',
    summary: 'Make a payment link for what is due on an invoice (role: ops)',
    description:
      'At most one link of an invoice can be paid at a time: while it can, it is given instead of a second one. The invoice is marked paid once the MoR confirms the payment, not by the return of the customer.',
  })
  @KeyHeader(false)
  @ApiCreatedResponse({ type: PaymentLinkView })
  @Problems({
    400: '`invalid_request`, or what the MoR found wrong (`validation_error`).',
    404: '`not_found`: no such invoice.',
    409: '`invoice_not_payable`, `idempotency_conflict`, `no_active_arrangement`, `unsupported_outpost_role`',
    502: '`mor_unavailable`: no answer yet; the request is repeated by itself.',
  })
  async create(
    @Param('id', InvoiceIdPipe) id: string,
    @Body() dto: CreatePaymentLinkDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<PaymentLinkView> {
    const key = idempotencyKey(req);
    const { invoice, askedAt } = await readBilled(this.flow, id);
    const there = await this.flow.standing(id, 'payment_link');
    if (there !== null && there.morId !== null) await this.flow.refresh(there); // it may be paid by now
    const objectId = this.ids.next('lnk');
    const { amountRemaining: minor, currency } = invoice;
    const amount = { amount: decimalFromMinor(minor, currency), currency };
    const { wire, problem } = wireOrProblem(() => linkWire(dto, amount, objectId));
    const asked = await this.flow.request(
      { kind: 'payment_link', id: objectId, wire, until: null, facts: invoice, askedAt, by: caller.name },
      key === null ? null : requestName(caller, `/v1/invoices/${id}/payment-link`, key, req.body),
    );
    if (!asked.ok) throw asked.status === 400 && problem !== null ? problem : refusalProblem(asked);
    return paymentLinkView(await this.answers.of(asked.value));
  }

  @Get()
  @MayRead('ops', 'payment_link.read')
  @ApiOperation({
    operationId: 'getPaymentLink',
    summary: 'The payment link of an invoice, read afresh at the MoR (role: ops)',
  })
  @ApiOkResponse({ type: PaymentLinkView })
  @Problems({ 404: '`not_found`', 502: '`mor_unavailable`' })
  async read(@Param('id', InvoiceIdPipe) id: string): Promise<PaymentLinkView> {
    const objects = await this.books.objects(id);
    const made = objects.findLast(
      (o) => o.kind === 'payment_link' && o.status !== 'REFUSED' && o.status !== 'REPLACED',
    );
    if (made === undefined) throw notFound('payment link');
    const named = made.morId === null ? await this.answers.of(made) : made;
    const { row, outcome } = await this.flow.refresh(named);
    if (!outcome.ok) throw morProblem(outcome);
    if (row.status === 'DELETED') throw notFound('payment link');
    return paymentLinkView(row);
  }
}

/** The key of a link is a field of its body, and a new one for every submission (Document 2). */
function linkWire(
  dto: CreatePaymentLinkDto,
  amount: { readonly amount: string; readonly currency: string },
  objectId: string,
): WireRequest {
  const checked = checkPaymentLink({
    jurisdiction: dto.jurisdiction,
    amount,
    returnUrl: dto.return_url,
    idempotencyKey: messageKey('create_payment_link', objectId, 1),
    ...(dto.expires_in === undefined ? {} : { expiresIn: dto.expires_in }),
  });
  if (checked.ok) return encodePaymentLink(checked.value);
  const errors = checked.errors.map((e) => ({ ...e, field: callersField(e.field) }));
  throw new Problem(400, 'invalid_request', `${errors[0]?.field ?? ''}: ${errors[0]?.message ?? ''}`, errors);
}

// The API's routes for returned bank debits. Document 3 has no event for a returned debit, so an operator records the
// return. The operator may undo the record.
import { Body, Controller, Get, HttpCode, Param, Post, Req } from '@nestjs/common';
import { ApiCreatedResponse, ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { type Request } from 'express';
import { MayChange, MayRead } from '../../../frames/api/access/access.js';
import { type Caller, CurrentCaller } from '../../../frames/api/access/caller.js';
import { Example, KeyHeader, Problems, Text } from '../../../frames/api/http/docs.js';
import { IdPipe } from '../../../frames/api/http/id.pipe.js';
import { paymentRequestName, requiredIdempotencyKey } from '../../../frames/api/http/idempotency.js';
import { invalid, notFound, valueOrProblem } from '../../../frames/api/http/problem.js';
import { IsIdText, Matches, MayBeAbsent } from '../../../frames/api/http/rules.js';
import { type Result } from '../../../engine/commanded.js';
import { type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { ReturnView, returnView } from './return.view.js';
import { ReturnsService } from './returns.service.js';
import { readDay } from '../../../shared/domain/day.js';

class RecordReturnDto {
  @Example('bank statement of November, line 12')
  @Text('Where you saw the return, for example in the MoR’s portal or on a bank statement.')
  @MayBeAbsent()
  @IsIdText()
  reference?: string;

  @Example('2026-11-24')
  @Text('The day (UTC) the bank took the money back, YYYY-MM-DD. The loss counts in its month. Default: today.')
  @MayBeAbsent()
  @Matches(/^\d{4}-\d\d-\d\d$/, 'must be a day such as 2026-11-24')
  returned_on?: string;
}

class UndoReturnDto {}

@ApiTags('Returned debits')
@Controller('v1/payments/:id/returned')
export class ReturnsController {
  constructor(private readonly returns: ReturnsService) {}

  @Get()
  @MayRead('read', 'payment.returned.read')
  @ApiOperation({ operationId: 'getReturn', summary: 'The newest return of a payment (role: read)' })
  @ApiOkResponse({ type: ReturnView })
  @Problems({ 404: '`not_found`: no such payment, or it has no recorded return' })
  async one(@Param('id', IdPipe) id: string): Promise<ReturnView> {
    const found = await this.returns.find(id);
    if (found === null) throw notFound('return of this payment');
    return returnView(found.row, found.payment);
  }

  @Post()
  @HttpCode(201)
  @MayChange('ops', 'payment.returned', { outside: false })
  @ApiOperation({
    operationId: 'recordReturn',
    summary: 'Record that a bank returned the debit of a payment (role: ops)',
    description:
      'For a bank debit returned after its settlement: the MoR has no event for it. The ledger books the rest of the payment as lost, and a review item asks about the invoice on Stripe. Crossbill changes nothing there. From then on Crossbill refuses to refund the payment.',
  })
  @KeyHeader(true)
  @ApiCreatedResponse({ type: ReturnView })
  @Problems({
    400: '`invalid_request`',
    404: '`payment_not_found`',
    409: '`payment_already_returned`, `refund_under_way`, `idempotency_conflict`',
    422: '`payment_not_returnable`: the payment never succeeded, or nothing of it is left',
  })
  async record(
    @Param('id', IdPipe) id: string,
    @Body() dto: RecordReturnDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<ReturnView> {
    const name = paymentRequestName(caller, requiredIdempotencyKey(req), req.body);
    const on = dto.returned_on === undefined ? null : readDay(dto.returned_on);
    if (on === null && dto.returned_on !== undefined) throw invalid('returned_on', 'is no day of the calendar');
    const word = { by: caller.name, reference: dto.reference ?? null, on };
    return this.shown(id, await this.returns.record(id, word, name));
  }

  @Post('undo')
  @HttpCode(200)
  @MayChange('ops', 'payment.returned.undo', { outside: false })
  @ApiOperation({
    operationId: 'undoReturn',
    summary: 'Undo the record of a returned debit (role: ops)',
    description: 'A further entry in the ledger reverses the loss, and the review item closes.',
  })
  @KeyHeader(true)
  @ApiOkResponse({ type: ReturnView })
  @Problems({
    400: '`invalid_request`',
    404: '`payment_not_found`',
    409: '`payment_not_returned`: the payment has no recorded return; `idempotency_conflict`',
  })
  async undo(
    @Param('id', IdPipe) id: string,
    @Body() _dto: UndoReturnDto,
    @Req() req: Request,
    @CurrentCaller() caller: Caller,
  ): Promise<ReturnView> {
    const name = paymentRequestName(caller, requiredIdempotencyKey(req), req.body);
    return this.shown(id, await this.returns.undo(id, caller.name, name));
  }

  private async shown(id: string, done: Result<MorObjectRow>): Promise<ReturnView> {
    const row = valueOrProblem(done);
    const found = await this.returns.find(id);
    if (found === null) throw notFound('payment');
    return returnView(row, found.payment);
  }
}

// The ledger: every movement of money that was recorded, as it was recorded.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Books, type LedgerRow } from '../domain/ports/books.js';
import { MayRead } from '../api/access/access.js';
import { Amount, Currency, Problems, Text, TextIfAny, Time } from '../api/http/docs.js';
import { given, pageOf, PageQuery, pageRequest, type PageView, pageView } from '../api/http/page.js';
import { Filter } from '../api/http/rules.js';
import { amountOf, currencyOf, timeOf } from '../api/http/values.js';

class LedgerQuery extends PageQuery {
  @Filter("Only this invoice's.") invoice_id?: string;
  @Filter("Only this payment's, by `pay_…` or our own id.") payment_id?: string;
  @Filter('Only of this reason.') reason?: string;
}

class LedgerEntryView {
  @Text() id!: string;
  @Text() debit_account!: string;
  @Text() credit_account!: string;
  @Amount() amount!: number;
  @Currency() currency!: string;
  @Text('What moved it.') reason!: string;
  @Text() invoice_id!: string;
  @Text() payment_id!: string;
  @TextIfAny() refund_id?: string | undefined;
  @TextIfAny("The sender's event that caused it; left out when a call or a person did.") event_id?: string | undefined;
  @Time() recorded_at!: string;
}

@ApiTags('Ledger')
@Controller('v1/ledger')
export class LedgerController {
  constructor(private readonly books: Books) {}

  @Get()
  @MayRead('read', 'ledger.list')
  @ApiOperation({ summary: 'Ledger entries, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(LedgerEntryView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() q: LedgerQuery): Promise<PageView<LedgerEntryView>> {
    const filter = given({ invoiceId: q.invoice_id, paymentId: q.payment_id, reason: q.reason });
    return pageView(await this.books.ledger(filter, pageRequest(q)), entryView);
  }
}

function entryView(e: LedgerRow): LedgerEntryView {
  return {
    id: e.id,
    debit_account: e.debitAccount,
    credit_account: e.creditAccount,
    amount: amountOf(e.amount),
    currency: currencyOf(e.currency),
    reason: e.reason,
    invoice_id: e.invoiceId,
    payment_id: e.paymentId,
    refund_id: e.refundId ?? undefined,
    event_id: e.eventId ?? undefined,
    recorded_at: timeOf(e.recordedAt),
  };
}

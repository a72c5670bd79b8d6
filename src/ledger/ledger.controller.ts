// The ledger: every movement of money that was recorded, as it was recorded.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { Books, type LedgerRow } from '../domain/ports/books.js';
import { MayRead } from '../api/access/access.js';
import { Amount, Currency, Problems, Text, TextIfAny, Time } from '../api/http/docs.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../api/http/page.js';
import { Filter } from '../api/http/rules.js';
import { amountOf, currencyOf, timeOf } from '../api/http/values.js';
import { REASONS } from './rules/accounts.js';

class LedgerQuery extends PageQuery {
  @Filter("Only this invoice's.") invoice_id?: string;
  @Filter("Only this payment's, by `pay_…` or our own id.") payment_id?: string;
  @Filter('Only of this reason.', REASONS) reason?: string;
  @Since('when it happened (`moved_at`)') since?: string;
  @Until() until?: string;
  @CurrencyFilter() currency?: string;
  @AmountFilter('of the entry') amount?: string;
  @CustomerFilter() customer?: string;
}

class LedgerEntryView {
  @Text() id!: string;
  @Text() debit_account!: string;
  @Text() credit_account!: string;
  @Amount() amount!: number;
  @Currency() currency!: string;
  @Text('What moved it.') reason!: string;
  @TextIfAny("The merchant's own id.") customer_id?: string | undefined;
  @TextIfAny("The MoR's customer, as it was linked last.") mor_customer_id?: string | undefined;
  @Text() invoice_id!: string;
  @TextIfAny("The invoice's number, as the customer reads it.") invoice_number?: string | undefined;
  @Text('`pay_…`, or an id of ours until the MoR or a person named it.') payment_id!: string;
  @TextIfAny() processor_charge_id?: string | undefined;
  @TextIfAny("Stripe's `pr_…`.") payment_record_id?: string | undefined;
  @TextIfAny('Ours and permanent.') refund_id?: string | undefined;
  @TextIfAny("The MoR's `rfnd_…`.") mor_refund_id?: string | undefined;
  @TextIfAny("The refund's id at the processor.") processor_refund_id?: string | undefined;
  @TextIfAny('The credit note on Stripe.') credit_note_id?: string | undefined;
  @TextIfAny("The sender's event that caused it; left out when a call or a person did.") event_id?: string | undefined;
  @Time("When it happened, which says what month it belongs to: the MoR's own time of money taken, given back or lost.")
  moved_at!: string;
  @Time('When the entry was made.') recorded_at!: string;
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
    const filter = { ...moneyOf(q), invoiceId: q.invoice_id, paymentId: q.payment_id, reason: q.reason };
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
    customer_id: e.customerId ?? undefined,
    mor_customer_id: e.morCustomerId ?? undefined,
    invoice_id: e.invoiceId,
    invoice_number: e.invoiceNumber ?? undefined,
    payment_id: e.paymentId,
    processor_charge_id: e.processorChargeId ?? undefined,
    payment_record_id: e.paymentRecordId ?? undefined,
    refund_id: e.refundId ?? undefined,
    mor_refund_id: e.morRefundId ?? undefined,
    processor_refund_id: e.processorRefundId ?? undefined,
    credit_note_id: e.creditNoteId ?? undefined,
    event_id: e.eventId ?? undefined,
    moved_at: timeOf(e.movedAt),
    recorded_at: timeOf(e.recordedAt),
  };
}

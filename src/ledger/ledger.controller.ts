// The ledger: every movement of money that was recorded, as it was recorded.
import { Controller, Get, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiProperty, ApiTags } from '@nestjs/swagger';
import { type LedgerRow, LedgerStore } from './ledger.store.js';
import { LedgerSumsStore } from './sums.store.js';
import { MayRead } from '../api/access/access.js';
import { Amount, Currency, Problems, Text, TextIfAny, Time } from '../api/http/docs.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../api/http/page.js';
import { invalid } from '../api/http/problem.js';
import { Filter, Matches } from '../api/http/rules.js';
import { amountOf, currencyOf, timeOf } from '../api/http/values.js';
import { REASONS } from './rules/accounts.js';
import { monthOf } from './rules/month.js';
import { trialBalances } from './rules/trial-balance.js';
import { TrialBalanceView, trialBalanceView } from './trial-balance.view.js';

class LedgerQuery extends PageQuery {
  @Filter("Only this invoice's.") invoice_id?: string;
  @Filter("Only this payment's, by `pay_…` or our own id.") payment_id?: string;
  @Filter('Only of this reason.', REASONS) reason?: string;
  @Since('when the money moved (`moved_at`)') since?: string;
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
  @Time("When the money moved, by the MoR's own time, which says what month the entry belongs to (UTC).")
  moved_at!: string;
  @Time('When the entry was made.') recorded_at!: string;
}

class TrialBalanceQuery {
  @ApiProperty({ description: 'A month of the calendar in UTC.', example: '2026-11' })
  @Matches(/^\d{4}-\d{2}$/, 'must be a month such as 2026-11')
  month!: string;
}

@ApiTags('Ledger')
@Controller('v1/ledger')
export class LedgerController {
  constructor(
    private readonly entries: LedgerStore,
    private readonly sums: LedgerSumsStore,
  ) {}

  @Get()
  @MayRead('read', 'ledger.list')
  @ApiOperation({ operationId: 'listLedgerEntries', summary: 'Ledger entries, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(LedgerEntryView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() q: LedgerQuery): Promise<PageView<LedgerEntryView>> {
    const filter = { ...moneyOf(q), invoiceId: q.invoice_id, paymentId: q.payment_id, reason: q.reason };
    return pageView(await this.entries.list(filter, pageRequest(q)), entryView);
  }

  @Get('trial-balance')
  @MayRead('read', 'ledger.trial_balance')
  @ApiOperation({
    operationId: 'getTrialBalance',
    summary: 'The trial balance of a month, for each currency (role: read)',
    description:
      'What belongs to a month goes by when the MoR moved the money, in UTC; that Stripe shows it belongs to the same month. An event that comes late therefore changes the month that it is of.',
  })
  @ApiOkResponse({ type: TrialBalanceView })
  @Problems({ 400: '`invalid_request`: `month` is missing or no month.' })
  async trialBalance(@Query() q: TrialBalanceQuery): Promise<TrialBalanceView> {
    const month = monthOf(q.month);
    if (month === null) throw invalid('month', 'must be a month such as 2026-11');
    return trialBalanceView(month, trialBalances(await this.sums.between(month)));
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

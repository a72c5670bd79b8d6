// The ledger: every recorded movement of money, unchanged.
import { Controller, Get, Inject, Optional, Query } from '@nestjs/common';
import { ApiOkResponse, ApiOperation, ApiTags } from '@nestjs/swagger';
import { LedgerEntryView, entryView } from './ledger-entry.view.js';
import { LedgerRepository } from './ledger.repository.js';
import { LedgerSumsRepository } from './sums.repository.js';
import { MayRead } from '../../frames/api/access/access.js';
import { Example, Problems, Text } from '../../frames/api/http/docs.js';
import { AmountFilter, CurrencyFilter, CustomerFilter, moneyOf, Since, Until } from '../../frames/api/http/filters.js';
import { pageOf, PageQuery, pageRequest, type PageView, pageView } from '../../frames/api/http/page.js';
import { invalid } from '../../frames/api/http/problem.js';
import { Filter, Matches } from '../../frames/api/http/rules.js';
import { REASONS } from '../../shared/domain/postings.js';
import { Differences, NOTHING_COMPARED } from '../../shared/domain/ports/differences.js';
import { decideMonth } from './rules/month-agreement.js';
import { monthOf } from './rules/month.js';
import { trialBalances } from './rules/trial-balance.js';
import { TrialBalanceView, trialBalanceView } from './trial-balance.view.js';

class LedgerQuery extends PageQuery {
  @Filter("Only this invoice's entries.") invoice_id?: string;
  @Filter("Only this payment's entries: its `pay_…`, or Crossbill's id of it.") payment_id?: string;
  @Filter('Only of this reason.', REASONS) reason?: string;
  @Since('when the money moved (`moved_at`)') since?: string;
  @Until() until?: string;
  @CurrencyFilter() currency?: string;
  @AmountFilter('the amount of the entry') amount?: string;
  @CustomerFilter() customer?: string;
}

class TrialBalanceQuery {
  @Example('2026-11')
  @Text('A month of the calendar in UTC.')
  @Matches(/^\d{4}-\d{2}$/, 'must be a month such as 2026-11')
  month!: string;
}

@ApiTags('Ledger')
@Controller('v1/ledger')
export class LedgerController {
  constructor(
    private readonly entries: LedgerRepository,
    private readonly sums: LedgerSumsRepository,
    @Optional() @Inject(Differences) private readonly differences: Differences = NOTHING_COMPARED,
  ) {}

  @Get()
  @MayRead('read', 'ledger.list')
  @ApiOperation({ operationId: 'listLedgerEntries', summary: 'Ledger entries, newest first (role: read)' })
  @ApiOkResponse({ type: pageOf(LedgerEntryView) })
  @Problems({ 400: '`invalid_request`: a filter, `limit` or `cursor` is wrong.' })
  async list(@Query() query: LedgerQuery): Promise<PageView<LedgerEntryView>> {
    const filter = {
      ...moneyOf(query),
      invoiceId: query.invoice_id,
      paymentId: query.payment_id,
      reason: query.reason,
    };
    return pageView(await this.entries.list(filter, pageRequest(query)), entryView);
  }

  @Get('trial-balance')
  @MayRead('read', 'ledger.trial_balance')
  @ApiOperation({
    operationId: 'getTrialBalance',
    summary: 'The trial balance of a month, for each currency (role: read)',
    description:
      'The month of an entry is the month (UTC) when the MoR moved the money. The entry of the mark on Stripe has the same month. So a late event changes a past month.',
  })
  @ApiOkResponse({ type: TrialBalanceView })
  @Problems({ 400: '`invalid_request`: `month` is missing, or is no month such as 2026-11.' })
  async trialBalance(@Query() query: TrialBalanceQuery): Promise<TrialBalanceView> {
    const month = monthOf(query.month);
    if (month === null) throw invalid('month', 'must be a month such as 2026-11');
    const [sums, compared] = await Promise.all([this.sums.between(month), this.differences.ofMonth(month)]);
    const balances = trialBalances(sums);
    return trialBalanceView(month, balances, decideMonth(month, balances, compared));
  }
}

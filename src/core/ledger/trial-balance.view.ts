// The trial balance in the API's form.
import {
  Amount,
  Count,
  Currency,
  Example,
  Flag,
  Many,
  Part,
  Text,
  Time,
  TimeOrNull,
  Word,
} from '../../frames/api/http/docs.js';
import { amountOf, currencyOf, timeOf } from '../../frames/api/http/values.js';
import { MONTH_STATES, type MonthAgreement } from './rules/month-agreement.js';
import { type Month, nameOf } from './rules/month.js';
import { type AccountLine, type TrialBalance } from './rules/trial-balance.js';

const SIGNED = 'Smallest units; debit positive, credit negative.';

class TrialTotalView {
  @Amount(SIGNED) opening!: number;
  @Amount('The sum of the debits in the month.') debit!: number;
  @Amount('The sum of the credits in the month.') credit!: number;
  @Amount(SIGNED) closing!: number;
}

class TrialAccountView extends TrialTotalView {
  @Example('mor_receivable') @Text() account!: string;
  @Flag('A clearing account: zero at the end of the month, unless work is unfinished or waits for a person.')
  clearing!: boolean;
}

class TrialMovementView {
  @Example('payment_collected') @Text() reason!: string;
  @Example('mor_receivable') @Text() debit_account!: string;
  @Example('unmarked_payments') @Text() credit_account!: string;
  @Count() entries!: number;
  @Amount() amount!: number;
}

class TrialCurrencyView {
  @Currency() currency!: string;
  @Many(TrialAccountView) accounts!: TrialAccountView[];
  @Part(TrialTotalView, 'A check: opening and closing are zero, and debit equals credit.')
  total!: TrialTotalView;
  @Many(TrialMovementView, 'The movements of the month, by reason.') moved!: TrialMovementView[];
}

class MonthVerdictView {
  @Word(
    MONTH_STATES,
    '`differs`: verify found unsettled differences; `unfinished`: Stripe does not show all money at the month’s end; `not_compared`: verify has not compared the whole month.',
  )
  state!: string;
  @Count("The newest verify run's unsettled differences about this month.") differences!: number;
  @TimeOrNull('The start of the newest complete verify run over this month; null: there was none.')
  compared_at!: string | null;
  @Flag('True: the month was over at that time.') over!: boolean;
}

export class TrialBalanceView {
  @Example('2026-11') @Text('For example `2026-11`.') month!: string;
  @Time('Its first moment, UTC.') since!: string;
  @Time('The first moment of the next month.') until!: string;
  @Part(MonthVerdictView, 'Whether the month agrees with Stripe and the MoR.') verdict!: MonthVerdictView;
  @Many(TrialCurrencyView) currencies!: TrialCurrencyView[];
}

export function trialBalanceView(
  month: Month,
  balances: readonly TrialBalance[],
  { state, differences, comparedAt, isOver }: MonthAgreement,
): TrialBalanceView {
  return {
    month: nameOf(month),
    since: timeOf(month.since),
    until: timeOf(month.until),
    verdict: { state, differences, compared_at: timeOf(comparedAt), over: isOver },
    currencies: balances.map((b) => ({
      currency: currencyOf(b.currency),
      accounts: b.accounts.map((l) => ({ account: l.account, clearing: l.clearing, ...totalView(l) })),
      total: totalView(b.total),
      moved: b.moved.map((m) => ({
        reason: m.reason,
        debit_account: m.debit,
        credit_account: m.credit,
        entries: m.entries,
        amount: amountOf(m.during),
      })),
    })),
  };
}

function totalView(account: Omit<AccountLine, 'account' | 'clearing'>): TrialTotalView {
  return {
    opening: amountOf(account.opening),
    debit: amountOf(account.debit),
    credit: amountOf(account.credit),
    closing: amountOf(account.closing),
  };
}

// `crossbill trial-balance`: shows opening, movement and closing of each ledger account in one month.
import { showMoney, decimalFromMinor } from '../../shared/domain/money.js';
import { decideMonth, type MonthAgreement, sayAgreement } from '../../core/ledger/rules/month-agreement.js';
import { type Month, nameOf } from '../../core/ledger/rules/month.js';
import { openEnds, type TrialBalance, trialBalances } from '../../core/ledger/rules/trial-balance.js';
import { LedgerSumsRepository } from '../../core/ledger/sums.repository.js';
import { trialBalanceView } from '../../core/ledger/trial-balance.view.js';
import { Differences, NOTHING_COMPARED } from '../../shared/domain/ports/differences.js';
import { type Commands } from './commands.js';
import { parseMonth } from './options.js';
import { table, time } from './table.js';

export function addTrialBalance(on: Commands): void {
  on.add('trial-balance', on.about)
    .requiredOption('--month <month>', 'the calendar month in UTC: 2026-11', parseMonth)
    .action(
      on.run(async (cli, { month }) => {
        const app = await cli.open();
        const balances = trialBalances(await app.get(LedgerSumsRepository).between(month));
        const agreement = decideMonth(month, balances, await app.find(Differences, NOTHING_COMPARED).ofMonth(month));
        await cli.print(trialBalanceView(month, balances, agreement), () => render(month, balances, agreement));
      }),
    );
}

function render(month: Month, balances: readonly TrialBalance[], agreement: MonthAgreement): string {
  if (balances.length === 0) return `No money had moved by the end of ${nameOf(month)}.\n`;
  const head = `Trial balance of ${nameOf(month)}, by the time the MoR moved the money (UTC). Debits are positive, credits negative.\n`;
  const compared = agreement.comparedAt === null ? '' : ` Compared ${time(agreement.comparedAt)}.`;
  return `${head}${sayAgreement(agreement)}${compared}\n${balances.map(renderCurrency).join('')}`;
}

function renderCurrency(balance: TrialBalance): string {
  const { currency, accounts, total, moved } = balance;
  const money = (minor: bigint): string => decimalFromMinor(minor, currency);
  const lines = [...accounts, { ...total, account: 'total' }].map((l) => [
    l.account,
    ...[l.opening, l.debit, l.credit, l.closing].map(money),
  ]);
  const movements = moved.map((m) => [m.reason, m.debit, m.credit, String(m.entries), money(m.during)]);
  return [
    `\n${currency}\n`,
    table(['account', 'opening', 'debit', 'credit', 'closing'], lines),
    ...(movements.length === 0 ? [] : ['\n', table(['reason', 'debit', 'credit', 'entries', 'amount'], movements)]),
    ...openEnds(balance).map(({ amount: minor, what }) => `${showMoney({ minor, currency })} ${what}.\n`),
  ].join('');
}

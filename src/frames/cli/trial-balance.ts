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
import { type Block, drawn } from './fit.js';
import { table, time } from './table.js';

export function addTrialBalance(on: Commands): void {
  on.addReport('trial-balance', on.about)
    .requiredOption('--month <month>', 'the calendar month in UTC: 2026-11', parseMonth)
    .action(
      on.run(async (cli, { month }) => {
        const app = await cli.open();
        const balances = trialBalances(await app.get(LedgerSumsRepository).between(month));
        const agreement = decideMonth(month, balances, await app.find(Differences, NOTHING_COMPARED).ofMonth(month));
        const text = () => drawn(render({ month, balances, agreement, width: cli.width }), cli.width);
        await cli.print(trialBalanceView(month, balances, agreement), text);
      }),
    );
}

type Report = {
  readonly month: Month;
  readonly balances: readonly TrialBalance[];
  readonly agreement: MonthAgreement;
  readonly width: number | null;
};

function render({ month, balances, agreement, width }: Report): readonly Block[] {
  if (balances.length === 0) return [`No money had moved by the end of ${nameOf(month)}.\n`];
  const head = `Trial balance of ${nameOf(month)}, by the time the MoR moved the money (UTC). Debits are positive, credits negative.\n`;
  const compared = agreement.comparedAt === null ? '' : ` Compared ${time(agreement.comparedAt)}.`;
  const verdict = `${sayAgreement(agreement)}${compared}\n`;
  return [head, verdict, ...balances.flatMap((balance) => renderCurrency(balance, width))];
}

const HEADS = ['account', 'opening', 'debit', 'credit', 'closing'];

function renderCurrency(balance: TrialBalance, width: number | null): readonly Block[] {
  const { currency, accounts, total, moved } = balance;
  const money = (minor: bigint): string => decimalFromMinor(minor, currency);
  const lines = [...accounts, { ...total, account: 'total' }].map((l) => [
    l.account,
    ...[l.opening, l.debit, l.credit, l.closing].map(money),
  ]);
  const rows = moved.map((m) => [m.reason, money(m.during), String(m.entries), m.debit, m.credit]);
  return [
    `\n${currency}\n`,
    balanceTable(lines, width),
    ...(rows.length === 0 ? [] : ['\n', { heads: ['reason', 'amount', 'entries', 'debit', 'credit'], rows }]),
    ...openEnds(balance).map(({ amount: minor, what }) => `${showMoney({ minor, currency })} ${what}.\n`),
  ];
}

/** A table, or, where the sums are wider than the terminal, a line for each sum. A sum is never cut or left out. */
function balanceTable(lines: readonly (readonly string[])[], width: number | null): string {
  const text = table(HEADS, lines);
  if (width === null || text.split('\n').every((line) => line.length <= width)) return text;
  const widest = Math.max(...lines.flatMap((line) => line.slice(1).map((sum) => sum.length)));
  const sums = (line: readonly string[]): string =>
    HEADS.slice(1)
      .map((head, n) => `  ${head.padEnd(8)}${(line[n + 1] ?? '').padStart(widest)}\n`)
      .join('');
  return lines.map((line) => `${line[0] ?? ''}\n${sums(line)}`).join('');
}

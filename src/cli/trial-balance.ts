// `crossbill trial-balance`: what each account of the ledger stood at, what moved, and what it stands at, of one month.
import { type Command } from 'commander';
import { decimalFromMinor, showMoney } from '../domain/money.js';
import { LedgerSumsStore } from '../ledger/sums.store.js';
import { type Month, nameOf } from '../ledger/rules/month.js';
import { openEnds, type TrialBalance, trialBalances } from '../ledger/rules/trial-balance.js';
import { trialBalanceView } from '../ledger/trial-balance.view.js';
import { EXIT } from './exit-codes.js';
import { parseMonth } from './month.js';
import { type Cli, type Session } from './session.js';
import { table } from './table.js';

export function addTrialBalance(program: Command, session: Session): void {
  session
    .leaf(program, 'trial-balance', 'the trial balance of a month, for each currency', trialBalance)
    .requiredOption('--month <month>', 'of the calendar, UTC: 2026-11', parseMonth);
}

async function trialBalance(cli: Cli): Promise<number> {
  const month = cli.options['month'] as Month;
  const world = await cli.open();
  const balances = trialBalances(await world.get(LedgerSumsStore).between(month));
  await cli.print(trialBalanceView(month, balances), () =>
    balances.length === 0
      ? `No money had moved by the end of ${nameOf(month)}.\n`
      : `Trial balance of ${nameOf(month)}, by when the MoR moved the money (UTC). Debits are positive, credits negative.\n${balances.map(textOf).join('')}`,
  );
  return EXIT.ok;
}

function textOf(balance: TrialBalance): string {
  const { currency, accounts, total, moved } = balance;
  const money = (minor: bigint): string => decimalFromMinor(minor, currency);
  const row = (name: string, l: TrialBalance['total']): string[] => [
    name,
    ...[l.opening, l.debit, l.credit, l.closing].map(money),
  ];
  const lines = [...accounts.map((l) => row(l.account, l)), row('total', total)];
  const movements = moved.map((m) => [m.reason, m.debit, m.credit, String(m.entries), money(m.during)]);
  const ends = openEnds(balance).map(({ amount, what }) => `${showMoney({ minor: amount, currency })} ${what}.\n`);
  return [
    `\n${currency}\n`,
    table(['account', 'opening', 'debit', 'credit', 'closing'], lines),
    ...(movements.length === 0 ? [] : ['\n', table(['reason', 'debit', 'credit', 'entries', 'amount'], movements)]),
    ...ends,
  ].join('');
}

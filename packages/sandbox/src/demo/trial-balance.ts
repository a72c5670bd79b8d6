// The month's end in the demo's table: the balance of each ledger account, and whether the balances add up.
import { decimalFromMinor } from '../kernel/money.js';
import { type Finding } from './check.js';
import { type JsonClient } from './http.js';
import { type Row } from './report.js';

export type MonthEnd = { readonly month: string; readonly rows: readonly Row[]; readonly findings: readonly Finding[] };

/** `month`: in UTC, such as `2026-11`. `openReviews` false: each clearing account must end the month at zero. */
export async function monthEnd(api: JsonClient, month: string, openReviews: boolean): Promise<MonthEnd> {
  const balance = await api.get(`/v1/ledger/trial-balance?month=${month}`);
  const rows: Row[] = [];
  const findings: Finding[] = [];
  for (const of of balance.list('currencies')) {
    const currency = of.text('currency').toUpperCase();
    const shown = (minor: number): string => decimalFromMinor(BigInt(minor), currency);
    const say = (what: string): void => void findings.push({ about: `trial balance ${month} ${currency}`, what });
    const stands: string[] = [];
    let clearing = 0;
    for (const account of of.list('accounts')) {
      const [name, closing] = [account.text('account'), account.amount('closing')];
      if (!account.flag('clearing')) stands.push(`${name} ${shown(closing)}`);
      else clearing += Math.abs(closing);
    }
    rows.push([currency, shown(clearing), `left in clearing accounts; ${stands.join(', ')}`]);
    if (clearing !== 0 && !openReviews) say(`clearing accounts close at ${shown(clearing)}, not at 0`);
    const total = of.object('total');
    if (
      total.amount('opening') !== 0 ||
      total.amount('closing') !== 0 ||
      total.amount('debit') !== total.amount('credit')
    )
      say('debits and credits differ');
  }
  return { month, rows, findings };
}

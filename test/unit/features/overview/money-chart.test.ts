// The overview's chart of money by day.
import { expect, it } from '@jest/globals';
import { type DayMoney } from '../../../../src/features/overview/days.repository.js';
import { moneyChart } from '../../../../src/features/overview/money-chart.js';

const day = (text: string): Date => new Date(`${text}T00:00:00Z`);
const DAYS = { since: day('2026-11-18'), until: day('2026-11-21') };
const MONEY: readonly DayMoney[] = [
  { day: day('2026-11-18'), currency: 'EUR', collected: 2_990n, refunded: 0n, payments: 1 },
  { day: day('2026-11-20'), currency: 'EUR', collected: 5_980n, refunded: 990n, payments: 2 },
  { day: day('2026-11-20'), currency: 'JPY', collected: 4_800n, refunded: 0n, payments: 4 },
];
const drawn = (chosen: string | null, money = MONEY): string => moneyChart(money, DAYS, chosen).toString();

it('the overview’s chart begins with the currency of the most payments, and offers the other currencies', () => {
  const page = drawn(null);
  expect(page).toContain('4,800 JPY taken');
  expect([...page.matchAll(/href="\/console\?currency=(\w+)#/g)].map((m) => m[1])).toEqual(['JPY', 'EUR']);
});

it('the overview’s chart shows only the chosen currency, one row a day, newest first', () => {
  const rows = [...drawn('EUR').matchAll(/<tr>(.*?)<\/tr>/gs)]
    .slice(1)
    .map((m) => (m[1] ?? '').match(/(?<=<td>)[\d.]+(?= EUR|<)/g));
  expect(rows).toEqual([
    ['2', '59.80', '9.90'],
    ['0', '0.00', '0.00'],
    ['1', '29.90', '0.00'],
  ]);
});

it('the overview’s chart shows the first currency if the chosen currency has no money', () => {
  expect(drawn('USD')).toBe(drawn(null));
});

it('the overview’s chart draws no bar for days without money, and no chart without a currency', () => {
  const still = [{ day: day('2026-11-18'), currency: 'EUR', collected: 0n, refunded: 0n, payments: 0 }];
  expect(drawn(null, still)).not.toMatch(/NaN|Infinity/);
  expect(drawn(null, still)).toMatch(/<path class="marks" d=""/);
  expect(drawn(null, [])).not.toContain('<svg');
});

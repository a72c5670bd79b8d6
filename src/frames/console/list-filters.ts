// Filters shared by lists of money: days, an amount with a comma or a point, a currency.
import { customerOf, parseFilterTime, spanOf } from '../api/http/filters.js';
import { invalid } from '../api/http/problem.js';
import { minorFromDecimal, parseCurrency } from '../../shared/domain/money.js';
import { type MoneyFilter, type Span } from '../../shared/domain/page.js';
import { type Filter } from './list.js';

export const SPAN_FILTERS = [
  { name: 'since', label: 'From (UTC)', kind: 'date' },
  { name: 'until', label: 'Before (UTC)', kind: 'date' },
] as const satisfies readonly Filter[];

export const MONEY_FILTERS = [
  ...SPAN_FILTERS,
  { name: 'currency', label: 'Currency', kind: 'currency' },
  { name: 'amount', label: 'Amount', kind: 'amount' },
] as const satisfies readonly Filter[];

/** The currency of an amount if the filter names no currency. It has two decimals, like most currencies. */
const USUAL = 'EUR';

/**
 * Reads "29.90", "29,90", "1,299.00", "1.299,00" or "1299" as smallest units. A single comma or point before three
 * digits separates thousands, unless the currency has three decimals. Null: not an amount of this currency.
 */
export function minorFromTyped(text: string, currency = USUAL): bigint | null {
  const typed = text.replace(/[\s\u00a0']/g, '');
  if (!/^\d[\d.,]*$/.test(typed)) return null;
  const last = Math.max(typed.lastIndexOf('.'), typed.lastIndexOf(','));
  const marks = typed.match(/[.,]/g) ?? [];
  const mixed = new Set(marks).size === 2;
  const tail = typed.length - last - 1;
  const parts =
    last !== -1 &&
    (mixed || (marks.length === 1 && (tail !== 3 || minorFromDecimal(`1.${'1'.repeat(3)}`, currency) !== null)));
  const whole = (parts ? typed.slice(0, last) : typed).replace(/[.,]/g, '');
  return minorFromDecimal(parts && tail > 0 ? `${whole}.${typed.slice(last + 1)}` : whole, currency);
}

type Values = Partial<Record<'since' | 'until' | 'currency' | 'amount' | 'customer_id', string>>;

/** Reads the days of the filter. Throws 400 with the field's name. */
export function spanFrom(values: Pick<Values, 'since' | 'until'>): Span {
  for (const name of ['since', 'until'] as const) {
    if (values[name] !== undefined && parseFilterTime(values[name]) === null) {
      throw invalid(name, 'must be a day such as 2026-11-01');
    }
  }
  return spanOf(values);
}

/** Reads amount and currency of the filter. Throws 400 with the field's name. */
export function moneyFrom(values: Values): MoneyFilter {
  const currency = values.currency === undefined ? undefined : parseCurrency(values.currency);
  if (currency === null) throw invalid('currency', 'must be a currency code of three letters, such as EUR');
  const amount = values.amount === undefined ? undefined : minorFromTyped(values.amount, currency);
  if (amount === null || amount === 0n) throw invalid('amount', 'must be an amount such as 29.90 or 29,90');
  return { ...spanFrom(values), currency, amount, customerId: customerOf(values) };
}

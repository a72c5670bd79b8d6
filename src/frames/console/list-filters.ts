// Filters shared by lists of money: days, an amount with a comma or a point, a currency.
import { customerOf, parseFilterTime, spanOf } from '../api/http/filters.js';
import { given } from '../api/http/page.js';
import { invalid } from '../api/http/problem.js';
import { minorFromDecimal, parseCurrency } from '../../shared/domain/money.js';
import { type MoneyFilter, type Span } from '../../shared/domain/page.js';
import { DAY_MS } from '../../shared/policy.js';
import { type Filter } from './list.js';

export const SPAN_FILTERS = [
  { name: 'since', label: 'From (UTC)', kind: 'date' },
  { name: 'until', label: 'Up to and including (UTC)', kind: 'date' },
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

/** An amount with the currency a person typed beside it. `currency` null: none. */
export type TypedAmount = { readonly digits: string; readonly currency: string | null };

const SIGNS: Readonly<Record<string, string>> = { '€': 'EUR', '£': 'GBP' };

/** Takes the currency off an amount: "49,50 GBP", "gbp 49.50" and "£49.50" are 49.50 of GBP. */
export function splitAmount(text: string): TypedAmount {
  const [, before = '', digits = text, after = ''] =
    /^([A-Za-z]{3}|[€£])?\s*([\d][\d.,\s\u00a0']*?)\s*([A-Za-z]{3}|[€£])?$/.exec(text.trim()) ?? [];
  const said = before === '' ? after : before;
  const currency = parseCurrency(SIGNS[said] ?? said);
  return said === '' || (before !== '' && after !== '') || currency === null
    ? { digits: text, currency: null }
    : { digits, currency };
}

/**
 * Reads a typed amount as smallest units of its currency. Without a currency it is an amount of a currency with two
 * decimals, such as EUR, and without decimals also of one without, such as JPY. Empty: no amount.
 */
export function minorsOf({ digits, currency }: TypedAmount): readonly bigint[] {
  const minors = (currency === null ? [USUAL, 'JPY'] : [currency]).map((c) => minorFromTyped(digits, c) ?? 0n);
  return [...new Set(minors.filter((m) => m > 0n))];
}

type Values = Partial<Record<'since' | 'until' | 'currency' | 'amount' | 'customer_id', string>>;

/** Reads the days of the filter; the last day is a part of the span. Throws 400 with the field's name. */
export function spanFrom(values: Pick<Values, 'since' | 'until'>): Span {
  for (const name of ['since', 'until'] as const) {
    if (values[name] !== undefined && parseFilterTime(values[name]) === null) {
      throw invalid(name, 'must be a day such as 2026-11-01');
    }
  }
  const last = values.until !== undefined && /^\d{4}-\d{2}-\d{2}$/.test(values.until) ? new Date(values.until) : null;
  const until = last === null ? values.until : new Date(last.getTime() + DAY_MS).toISOString();
  return spanOf({ ...given({ since: values.since }), ...given({ until }) });
}

/** Reads amount and currency of the filter. Throws 400 with the field's name. */
export function moneyFrom(values: Values): MoneyFilter {
  const chosen = values.currency === undefined ? undefined : parseCurrency(values.currency);
  if (chosen === null) throw invalid('currency', 'must be a currency code of three letters, such as EUR');
  const typed = values.amount === undefined ? undefined : splitAmount(values.amount);
  const currency = chosen ?? typed?.currency ?? undefined;
  if (typed !== undefined && typed.currency !== null && typed.currency !== currency)
    throw invalid('amount', `is in ${typed.currency}, but the currency of the filter is ${currency ?? ''}`);
  const amount = typed === undefined ? undefined : minorFromTyped(typed.digits, currency);
  if (amount === null || amount === 0n) throw invalid('amount', 'must be an amount such as 29.90, 29,90 or 29,90 EUR');
  return { ...spanFrom(values), currency, amount, customerId: customerOf(values) };
}

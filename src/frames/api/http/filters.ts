// The common filters of lists: a span of time, a currency, an amount, a customer. Crossbill answers a wrong filter with
// 400 and the filter's name.
import { applyDecorators } from '@nestjs/common';
import { IsOptional } from 'class-validator';
import { canBeKept } from '@crossbill/mor/kept-time.js';
import { MAX_MINOR, parseCurrency } from '../../../shared/domain/money.js';
import { type MoneyFilter, type Span } from '../../../shared/domain/page.js';
import { TextIfAny } from './docs.js';
import { invalid } from './problem.js';
import { Filter, rule } from './rules.js';

const DATE = /^\d{4}-\d{2}-\d{2}$/;
const TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d{1,6})?)?(Z|[+-]\d{2}:\d{2})$/;
const FIRST_YEAR = 1970;

/** Parses a time with a zone, or a date (the day's start in UTC). Null: no such text, or no real day (30 February). */
export function parseFilterTime(value: unknown): Date | null {
  if (typeof value !== 'string' || !(DATE.test(value) || TIME.test(value))) return null;
  const day = new Date(`${value.slice(0, 10)}T00:00:00Z`);
  const at = new Date(value);
  const known = canBeKept(at) && !Number.isNaN(day.getTime());
  return known && day.toISOString().startsWith(value.slice(0, 10)) && at.getUTCFullYear() >= FIRST_YEAR ? at : null;
}

const WANTS_TIME = 'must be a date (2026-11-01: its start in UTC) or a time with its zone (2026-11-01T08:30:00Z)';
const isTime = rule('isTime', WANTS_TIME, (v) => parseFilterTime(v) !== null);
const isAmount = (value: unknown): boolean =>
  typeof value === 'string' && /^[1-9]\d{0,15}$/.test(value) && BigInt(value) <= MAX_MINOR;

const optional = (description: string, check: PropertyDecorator): PropertyDecorator =>
  applyDecorators(TextIfAny(description), IsOptional(), check);

/** Describes the filter `since`. `of`: the kind of time, for example "when the money was taken". */
export const Since = (of: string): PropertyDecorator =>
  optional(`Only from this date (UTC) or time on: ${of}.`, isTime);
export const Until = (): PropertyDecorator => optional('Only before this date (UTC) or time.', isTime);
export const CurrencyFilter = (): PropertyDecorator =>
  optional(
    'Only this currency (ISO 4217, either case).',
    rule('isCurrency', 'must be a currency code of three letters (ISO 4217)', (v) => parseCurrency(v) !== null),
  );
export const AmountFilter = (of: string): PropertyDecorator =>
  optional(
    `Only exactly this amount in smallest units, as Stripe counts them: ${of}.`,
    rule('isAmount', 'must be a whole number of smallest units, for example 2990 for 29.90 EUR', isAmount),
  );
export const CustomerFilter = (): PropertyDecorator => Filter("Only this customer's, by the merchant's own id.");

type Times = { readonly since?: string; readonly until?: string };
type Money = Times & {
  readonly currency?: string;
  readonly amount?: string;
  readonly customer?: string;
  readonly customer_id?: string;
};

/** Reads the span. Throws 400 for an empty span: the caller made a mistake, and an empty list would hide it. */
export function spanOf({ since, until }: Times): Span {
  const span = { since: parseFilterTime(since) ?? undefined, until: parseFilterTime(until) ?? undefined };
  if (span.since !== undefined && span.until !== undefined && span.since >= span.until)
    throw invalid('until', 'must be later than since');
  return span;
}

export function moneyOf(money: Money): MoneyFilter {
  return {
    ...spanOf(money),
    currency: parseCurrency(money.currency) ?? undefined,
    amount: money.amount === undefined ? undefined : BigInt(money.amount),
    customerId: customerOf(money),
  };
}

/** The customer in the filter. The field has two names with the same meaning: `customer` and `customer_id`. */
export function customerOf(money: Pick<Money, 'customer' | 'customer_id'>): string | undefined {
  if (money.customer !== undefined && money.customer_id !== undefined)
    throw invalid('customer_id', 'is another name of customer: give one of them');
  return money.customer ?? money.customer_id;
}

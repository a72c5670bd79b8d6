// Parses the values of options. Each function parses one kind of text, or explains how to write it.
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { canBeKept } from '@crossbill/mor/kept-time.js';
import { readDay } from '../../shared/domain/day.js';
import { isPaymentId } from '../../shared/domain/payment-name.js';
import { parseCurrency as currencyFrom } from '../../shared/domain/money.js';
import { monthOf, type Month } from '../../core/ledger/rules/month.js';

function orExplain<T>(value: T | null, how: string): T {
  if (value === null) throw new InvalidArgumentError(how);
  return value;
}

/** Accepts one of these words. Refuses an unknown word, because a misspelt filter would show an empty list. */
export function oneOf<T extends string>(words: readonly T[]): (text: string) => T {
  return (text) => orExplain(words.find((word) => word === text) ?? null, `Use one of ${words.join(', ')}.`);
}

/** Reads `30d`, `12h`, or a date or time in UTC. Refuses a time in the future. */
export function parseSince(text: string): Date {
  const now = Date.now();
  const [, n, unit] = /^(\d{1,5})([dh])$/.exec(text) ?? [];
  const isTime = /^\d{4}-\d{2}-\d{2}(T[\d:.]+Z)?$/.test(text);
  const at =
    n !== undefined ? now - Number(n) * (unit === 'd' ? 86_400_000 : 3_600_000) : isTime ? Date.parse(text) : NaN;
  const past = at <= now && canBeKept(new Date(at)) ? new Date(at) : null;
  return orExplain(past, 'Use a past date such as 2026-01-01, or a span such as 30d or 12h.');
}

/** Accepts an amount, and returns the same text: only with its currency it is money. */
export function parseAmount(text: string): string {
  const isAmount = /^\d{1,15}(?:\.\d{1,3})?$/.test(text);
  return orExplain(isAmount ? text : null, 'Use an amount such as 12.50 or 12.');
}

export function parseCount(max: number): (text: string) => number {
  return (text) => {
    const n = /^\d{1,9}$/.test(text) ? Number(text) : NaN;
    return orExplain(n >= 1 && n <= max ? n : null, `Use a whole number from 1 to ${max}.`);
  };
}

export const parseDay = (text: string): Date => orExplain(readDay(text), 'Use a day such as 2026-11-30.');
export const parseMonth = (text: string): Month => orExplain(monthOf(text), 'Use a month such as 2026-11.');
export const parseCurrency = (text: string): string =>
  orExplain(currencyFrom(text), 'Use a code of three letters (ISO 4217), such as EUR.');

export const parsePaymentId = (text: string): string =>
  orExplain(isPaymentId(text) ? text : null, "Use the MoR's id of the payment, pay_….");

/** Accepts one line of text of at most `max` characters, the API's limit. */
export function parseLine(max = 255): (text: string) => string {
  return (given) => {
    const text = given.trim();
    const isLine = text !== '' && text.length <= max && !/\p{Cc}/u.test(text);
    return orExplain(isLine ? text : null, `Use one line of at most ${max} characters.`);
  };
}

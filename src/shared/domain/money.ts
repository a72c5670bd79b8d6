// Money: the exact amounts of the MoR's package, and their text forms for people.

import { decimalFromMinor, type Money } from '@crossbill/mor/money.js';

export {
  decimalFromMinor,
  decimalsOf,
  MAX_MINOR,
  minorFromDecimal,
  type Money,
  parseCurrency,
} from '@crossbill/mor/money.js';

export function money(minor: bigint, currency: string): Money {
  return { minor, currency: currency.toUpperCase() };
}

/** True if amount and currency are the same. */
export function sameMoney(a: Money, b: Money): boolean {
  return a.minor === b.minor && a.currency === b.currency;
}

/** Writes "1234567.50" as "1,234,567.50". */
export function grouped(digits: string): string {
  const [whole = '', fraction] = digits.split('.');
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? parted : `${parted}.${fraction}`;
}

/** Formats money for a page: "1,299.00 USD". */
export function sayMoney(m: Money): string {
  return `${grouped(decimalFromMinor(m.minor, m.currency))} ${m.currency}`;
}

/** Formats money for a sentence: "29.90 EUR". */
export function showMoney(m: Money): string {
  return `${decimalFromMinor(m.minor, m.currency)} ${m.currency}`;
}

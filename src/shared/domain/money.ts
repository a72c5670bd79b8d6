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
export function sameMoney(one: Money, other: Money): boolean {
  return one.minor === other.minor && one.currency === other.currency;
}

/** Writes "1234567.50" as "1,234,567.50". */
export function grouped(digits: string): string {
  const [whole = '', fraction] = digits.split('.');
  const parted = whole.replace(/\B(?=(\d{3})+$)/g, ',');
  return fraction === undefined ? parted : `${parted}.${fraction}`;
}

/** Formats money for a page: "1,299.00 USD". */
export function sayMoney(money: Money): string {
  return `${grouped(decimalFromMinor(money.minor, money.currency))} ${money.currency}`;
}

/** Formats money for a sentence: "29.90 EUR". */
export function showMoney(money: Money): string {
  return `${decimalFromMinor(money.minor, money.currency)} ${money.currency}`;
}

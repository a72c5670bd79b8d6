// Two habits of Stripe's objects: an amount with its currency, and the name of the kind.
import { type JsonObject, minorOf, partOf } from '@crossbill/mor/read.js';
import { parseCurrency } from '../domain/money.js';

/** False when the object says that it is of another kind. */
export function isNamed(object: JsonObject, kind: string): boolean {
  return object['object'] === undefined || object['object'] === kind;
}

/** `{value, currency}` as Stripe writes amounts of payment records. */
export function amountOf(value: unknown): { minor: bigint; currency: string } | null {
  const { value: amount, currency } = partOf(value);
  const minor = minorOf(amount);
  const code = parseCurrency(currency);
  return minor === null || code === null ? null : { minor, currency: code };
}

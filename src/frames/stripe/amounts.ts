// Reads two things from Stripe's objects: the kind (the field `object`), and an amount with its currency.
import { type JsonObject, minorOf, partOf } from '@crossbill/mor/read.js';
import { parseCurrency } from '../../shared/domain/money.js';

/** True unless the field `object` of a Stripe object names another kind, such as `refund`. A missing field is fine. */
export function isNamed(object: JsonObject, kind: string): boolean {
  return object['object'] === undefined || object['object'] === kind;
}

/** Reads `{value, currency}`, the form of amounts in payment records. */
export function amountOf(value: unknown): { minor: bigint; currency: string } | null {
  const { value: amount, currency } = partOf(value);
  const minor = minorOf(amount);
  const code = parseCurrency(currency);
  return minor === null || code === null ? null : { minor, currency: code };
}

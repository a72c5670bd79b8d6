// Small readers for outside data: each gives the value in our type, or null for a wrong one.
import { isId } from '../domain/events/fields.js';
import { parseCurrency } from '../domain/money.js';

export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** False if the object names another kind. */
export function isNamed(object: JsonObject, kind: string): boolean {
  return object['object'] === undefined || object['object'] === kind;
}

/** An object, or an empty one: for reading optional parts. */
export function partOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

/** The texts among an object's members: metadata holds nothing else (Stripe docs, "Metadata"). */
export function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/**
 * A text of 1 to 5,000 characters; otherwise null. U+FFFD replaces NUL and half surrogates: no database keeps them and
 * no URL carries them.
 */
export function optionalText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '' || value.length > 5000) return null;
  return value.replace(/\0|\p{Surrogate}/gu, '\ufffd');
}

/** Stripe's id of an object, plain or as the expanded object. At most 255 characters fit for a database. */
export function idOf(value: unknown): string | null {
  const id = isObject(value) ? value['id'] : value;
  return isId(id) ? id : null;
}

/** A whole number exact in JSON, as smallest units; null for anything else. May be negative. */
export function minorOf(value: unknown): bigint | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

/** Unix seconds as a date. */
export function dateOf(value: unknown): Date | null {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < 1e11
    ? new Date(value * 1000)
    : null;
}

/** `{value, currency}` as Stripe writes amounts of payment records. */
export function amountOf(value: unknown): { minor: bigint; currency: string } | null {
  const { value: amount, currency } = partOf(value);
  const minor = minorOf(amount);
  const code = parseCurrency(currency);
  return minor === null || code === null ? null : { minor, currency: code };
}

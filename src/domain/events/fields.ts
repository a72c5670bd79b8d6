// Readers for the members of a parsed event. A missing member, or one of the wrong kind, ends the parse with its name.
import { maskCards } from '../card-numbers.js';
import { canBeKept } from '@crossbill/mor/kept-time.js';
import { parseCurrency } from '../money.js';
import { isInnerLane } from './channel-lane.js';
import { isJsonObject, type JsonObject } from './json-body.js';

/** An unusable event or object. The message names the member, never its value. Does not leave this folder. */
export class Unusable extends Error {}

/** Ids are opaque, unique per source, and kept in full; longer ones are refused. */
const MAX_ID_LENGTH = 255;

const MAX_TEXT_LENGTH = 2_000;

/** The object's own member; undefined without one, whatever its prototype says. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** True for a string fit as an id: 1 to 255 characters any database can store unchanged. */
export function isId(value: unknown): value is string {
  if (typeof value !== 'string' || value === '' || value.length > MAX_ID_LENGTH) return false;
  // Control characters and quotes are part of an opaque id. No text column keeps NUL and half surrogates.
  return !value.includes('\0') && !/\p{Surrogate}/u.test(value);
}

export function requireId(object: JsonObject, name: string): string {
  const value = member(object, name);
  if (isId(value)) return value;
  throw new Unusable(`${name} is missing or not a usable id`);
}

/** The id; null when it is absent, null or empty. */
export function optionalId(object: JsonObject, name: string): string | null {
  const value = member(object, name);
  if (value === undefined || value === null || value === '') return null;
  if (isId(value)) return value;
  throw new Unusable(`${name} is not a usable id`);
}

/** The id of an invoice of the billing platform, the name of its lane. */
export function requireInvoiceId(object: JsonObject, name: string): string {
  const value = requireId(object, name);
  if (isInnerLane(value)) throw new Unusable(`${name} is not an invoice id`);
  return value;
}

/** As `requireInvoiceId`; null when it is absent, null or empty. */
export function optionalInvoiceId(object: JsonObject, name: string): string | null {
  return optionalId(object, name) === null ? null : requireInvoiceId(object, name);
}

/**
 * The id of something given either as its id or as the whole object (Stripe docs, "Expanding objects"); null for
 * neither.
 */
export function idOrObject(value: unknown): string | null {
  if (isId(value)) return value;
  if (!isJsonObject(value)) return null;
  const id = member(value, 'id');
  return isId(id) ? id : null;
}

export function requireObject(object: JsonObject, name: string): JsonObject {
  const value = member(object, name);
  if (isJsonObject(value)) return value;
  throw new Unusable(`${name} is missing or not an object`);
}

/** A JSON number as an exact integer, as bigint; null for anything else, strings included. */
function exactInteger(value: unknown): bigint | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

/** An amount in smallest units of at least `min`. */
export function requireAmount(object: JsonObject, name: string, min: bigint): bigint {
  const value = exactInteger(member(object, name));
  if (value !== null && value >= min) return value;
  throw new Unusable(`${name} is missing or not a whole amount of at least ${min}`);
}

/** As `requireAmount`; null when it is absent or null. */
export function optionalAmount(object: JsonObject, name: string, min: bigint): bigint | null {
  const value = member(object, name);
  return value === undefined || value === null ? null : requireAmount(object, name, min);
}

/** The member `currency`, in upper case. */
export function requireCurrency(object: JsonObject): string {
  const value = parseCurrency(member(object, 'currency'));
  if (value !== null) return value;
  throw new Unusable('currency is missing or not a currency');
}

const ISO_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)$/;

/** Whole Unix seconds, or ISO 8601 text with a zone; null for anything else. */
export function timeOf(value: unknown): Date | null {
  if (typeof value === 'number') {
    return Number.isInteger(value) && value >= 0 ? kept(new Date(value * 1_000)) : null;
  }
  return typeof value === 'string' && ISO_TIME.test(value) ? kept(new Date(value)) : null;
}

const kept = (at: Date): Date | null => (canBeKept(at) ? at : null);

/**
 * The sender's time of the event: `created` (Document 3: Unix seconds; Document 2: ISO 8601) or `createdAt` (Document
 * 2, in one place). Null without a time; an invalid one ends the parse.
 */
export function eventTime(root: JsonObject): Date | null {
  const value = member(root, 'created') ?? member(root, 'createdAt') ?? null;
  if (value === null) return null;
  const at = timeOf(value);
  if (at === null) throw new Unusable('created is not a time');
  return at;
}

/** A code, a number, a name of a kind: kept as it came, without NUL, at most 2,000 characters; null when it is no text. */
export function plainText(value: unknown): string | null {
  if (typeof value !== 'string' || value === '') return null;
  return value.slice(0, MAX_TEXT_LENGTH).replace(/\0|\p{Surrogate}/gu, '\uFFFD');
}

/** A person's or a bank's text: like `plainText`, with card numbers masked. The inbox has the original bytes. */
export function freeText(value: unknown): string | null {
  const kept = plainText(value);
  return kept === null ? null : maskCards(kept);
}

/** The texts among an object's own members: metadata holds nothing else (Stripe docs, "Metadata"). */
export function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

// Reads JSON from Stripe or the MoR. Skips unknown fields. Known fields must match the documents.
import { canBeKept } from './kept-time.js';
import { minorFromDecimal, type Money, parseCurrency } from './money.js';

/** A known field is missing or of the wrong kind. The error names the field, never its value. */
export class Unreadable extends Error {
  /** @param what what the field should be: "a usable id" */
  constructor(
    readonly path: string,
    what = 'what the document says',
    message = `${path} is missing or not ${what}`,
  ) {
    super(message);
    this.name = 'Unreadable';
  }
}

/** A parsed JSON object. Its members are unchecked. */
export type JsonObject = { readonly [name: string]: unknown };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The object's own member. Undefined: the object has none. A member of its prototype does not count. */
export function member(object: JsonObject, name: string): unknown {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** The value if it is an object, or else an empty object. For optional parts. */
export function partOf(value: unknown): JsonObject {
  return isObject(value) ? value : {};
}

const LONGEST_ID = 255;
/** Stripe's longest text, such as the description of an invoice line. */
const LONGEST_TEXT = 5_000;

/**
 * True for a text of 1 to `longest` characters, storable unchanged: no NUL, no half surrogate pair. `.` and `..` are no
 * ids: as a part of a path they lead to another route.
 */
export function isId(value: unknown, longest = LONGEST_ID): value is string {
  if (typeof value !== 'string' || value === '' || value.length > longest) return false;
  if (value === '.' || value === '..') return false;
  return !value.includes('\0') && !/\p{Surrogate}/u.test(value);
}

/** An id, given directly or inside its whole object (Stripe docs, "Expanding objects"). Null for neither. */
export function idOf(value: unknown): string | null {
  const id = isObject(value) ? member(value, 'id') : value;
  return isId(id) ? id : null;
}

/**
 * A text of at most 5,000 characters. U+FFFD replaces NUL and half a surrogate pair, since no database stores them.
 * Null: empty, or no text.
 */
export function textOf(value: unknown): string | null {
  return typeof value !== 'string' || value === '' ? null : storable(value.slice(0, LONGEST_TEXT));
}

const storable = (text: string): string => text.replace(/\0|\p{Surrogate}/gu, '\ufffd');

/** The texts among an object's own members. Metadata contains only texts (Stripe docs, "Metadata"). */
export function textsOf(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(object).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

/** A whole number that JSON carries exactly, as smallest units. Null for anything else. It may be negative. */
export function minorOf(value: unknown): bigint | null {
  return typeof value === 'number' && Number.isSafeInteger(value) ? BigInt(value) : null;
}

const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/**
 * Reads whole Unix seconds, or ISO 8601 (in UTC if it has no zone). Null for anything else, and for a time before 1970,
 * such as a program's empty time `0001-01-01`: no money moved then, and Stripe takes no such time.
 */
export function timeOf(value: unknown): Date | null {
  if (typeof value === 'number') return Number.isInteger(value) ? kept(new Date(value * 1_000)) : null;
  if (typeof value !== 'string' || !TIME.test(value)) return null;
  const isZoned = value.length === 10 || /(Z|[+-]\d\d:?\d\d)$/.test(value.slice(10));
  return kept(new Date(isZoned ? value : `${value}Z`));
}

const kept = (at: Date): Date | null => (canBeKept(at) && at.getTime() >= 0 ? at : null);

type Reply = { readonly readable: boolean; readonly value: unknown };
const UNREADABLE: Reply = { readable: false, value: undefined };

/**
 * Parses the body of an answer. An empty body has no value. A body nested too deep to write again is unreadable.
 * @param text null: the body did not arrive completely
 */
export function parseReply(text: string | null): Reply {
  if (text === null) return UNREADABLE;
  if (text.trim() === '') return { readable: true, value: undefined };
  try {
    const value: unknown = JSON.parse(text);
    return nestsTooDeep(text) ? UNREADABLE : { readable: true, value };
  } catch {
    return UNREADABLE;
  }
}

/** Real bodies nest about ten levels. */
const MAX_DEPTH = 100;

function nestsTooDeep(text: string): boolean {
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    const c = text[i];
    if (c === '"') {
      for (i++; i < text.length && text[i] !== '"'; i++) if (text[i] === '\\') i++;
    } else if (c === '{' || c === '[') {
      depth++;
      if (depth > MAX_DEPTH) return true;
    } else if (c === '}' || c === ']') depth--;
  }
  return false;
}

export type Parse<T> = (value: unknown, path: string) => T;

const DECIMAL = /^-?\d{1,30}(\.\d{1,30})?$/;

/** An exact decimal as the sender wrote it, for example "10.10". It never becomes a float. */
export function parseDecimal(value: unknown, path: string): string {
  if (typeof value !== 'string' || !DECIMAL.test(value)) throw new Unreadable(path);
  return value;
}

/** A text for the database: U+FFFD replaces NUL and half a surrogate pair, since no database stores them. */
export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Unreadable(path);
  return storable(value);
}

/** A time, in the forms of `timeOf`. */
export function parseTime(value: unknown, path: string): Date {
  const time = timeOf(value);
  if (time === null) throw new Unreadable(path, 'a time');
  return time;
}

export function parseListOf<T>(value: unknown, path: string, item: Parse<T>): readonly T[] {
  if (!Array.isArray(value)) throw new Unreadable(path);
  return value.map((one, index) => item(one, `${path}[${index}]`));
}

/**
 * The fields of an object. Null counts as absent: the documents leave out fields without a value. `path`: the place of
 * the object, '' for the whole body.
 */
export class Fields {
  readonly #object: JsonObject;

  constructor(
    value: unknown,
    readonly path = '',
  ) {
    if (!isObject(value)) throw new Unreadable(path, 'an object');
    this.#object = value;
  }

  /** The names of the fields with a value, known or not. */
  names(): string[] {
    return Object.keys(this.#object).filter((name) => this.has(name));
  }

  has(name: string): boolean {
    return this.raw(name) !== null;
  }

  must<T>(name: string, parse: Parse<T>): T {
    return parse(this.raw(name) ?? undefined, this.#pathOf(name));
  }

  may<T>(name: string, parse: Parse<T>): T | null {
    return this.has(name) ? this.must(name, parse) : null;
  }

  text(name: string): string {
    return this.must(name, parseText);
  }

  /** An id, to use unchanged in later calls: a text of 1 to `longest` characters. */
  id(name: string, longest = LONGEST_ID): string {
    return this.must(name, (value, path) => {
      if (!isId(value, longest)) throw new Unreadable(path, 'a usable id');
      return value;
    });
  }

  /** Reads an id. Null: the field is absent, null or empty. */
  idOrNull(name: string): string | null {
    return (this.raw(name) ?? '') === '' ? null : this.id(name);
  }

  object(name: string): JsonObject {
    return this.must(name, (value, path) => {
      if (!isObject(value)) throw new Unreadable(path, 'an object');
      return value;
    });
  }

  textOrNull(name: string): string | null {
    return this.may(name, parseText);
  }

  decimal(name: string): string {
    return this.must(name, parseDecimal);
  }

  decimalOrNull(name: string): string | null {
    return this.may(name, parseDecimal);
  }

  /** An amount of at least `min`, in smallest units, as an exact JSON integer. */
  minor(name: string, min = 0n): bigint {
    return this.must(name, (value, path) => {
      const minor = minorOf(value);
      if (minor === null || minor < min) throw new Unreadable(path, `a whole amount of at least ${min}`);
      return minor;
    });
  }

  minorOrNull(name: string, min = 0n): bigint | null {
    return this.has(name) ? this.minor(name, min) : null;
  }

  /** The field `currency`: three letters in any case. Returns upper case. */
  currency(): string {
    return this.must('currency', (value, path) => {
      const code = parseCurrency(value);
      if (code === null) throw new Unreadable(path, 'a currency');
      return code;
    });
  }

  /** An absent field is false: Document 1 leaves out default values. */
  flag(name: string): boolean {
    const value = this.raw(name);
    if (value !== null && typeof value !== 'boolean') throw new Unreadable(this.#pathOf(name));
    return value === true;
  }

  time(name: string): Date {
    return this.must(name, parseTime);
  }

  timeOrNull(name: string): Date | null {
    return this.may(name, parseTime);
  }

  oneOf<const L extends readonly string[]>(name: string, allowed: L): L[number] {
    return this.must(name, (value, path) => {
      const found = allowed.find((one) => one === value);
      if (found === undefined) throw new Unreadable(path, `one of ${allowed.join(', ')}`);
      return found;
    });
  }

  oneOfOrNull<const L extends readonly string[]>(name: string, allowed: L): L[number] | null {
    return this.has(name) ? this.oneOf(name, allowed) : null;
  }

  list<T>(name: string, item: Parse<T>): readonly T[] {
    return this.must(name, (value, path) => parseListOf(value, path, item));
  }

  /** An absent list is an empty list. */
  listOrEmpty<T>(name: string, item: Parse<T>): readonly T[] {
    return this.has(name) ? this.list(name, item) : [];
  }

  /** The value without any check, for example to store it unchanged. Null: absent. */
  raw(name: string): unknown {
    return member(this.#object, name) ?? null;
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

/** Reads an amount of Document 2, `{amount, currency}`: a decimal string, exact in its currency. */
export function parseMoney(value: unknown, path: string): Money {
  const fields = new Fields(value, path);
  const currency = fields.currency();
  const minor = minorFromDecimal(fields.decimal('amount'), currency);
  if (minor === null) throw new Unreadable(path);
  return { minor, currency };
}

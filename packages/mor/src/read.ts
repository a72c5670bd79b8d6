// Reading a peer's data: skips unknown fields; known ones must match the documents.
import { canBeKept } from './kept-time.js';
import { minorFromDecimal, type Money, parseCurrency } from './money.js';

/** A known field is missing or of the wrong kind. Names the field, never its value. */
export class Unreadable extends Error {
  constructor(readonly path: string) {
    super(`${path} is missing or is not what the document says`);
    this.name = 'Unreadable';
  }
}

type Answer = { readonly readable: boolean; readonly value: unknown };
const UNREADABLE: Answer = { readable: false, value: undefined };

/**
 * The body of an answer; an empty one has no value. Nesting too deep to write again is unreadable.
 * @param text null: it did not arrive whole
 */
export function parseAnswer(text: string | null): Answer {
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
const TIME = /^\d{4}-\d\d-\d\d(T\d\d:\d\d(:\d\d(\.\d{1,9})?)?(Z|[+-]\d\d:?\d\d)?)?$/;

/** An exact decimal as the peer wrote it, for example "10.10". Never turned into a float. */
export function parseDecimal(value: unknown, path: string): string {
  if (typeof value !== 'string' || !DECIMAL.test(value)) throw new Unreadable(path);
  return value;
}

/** Text for the database: U+FFFD replaces NUL and half surrogates, since no database keeps them. */
export function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw new Unreadable(path);
  return value.replace(/\0|\p{Cs}/gu, '\ufffd');
}

/** A moment in ISO 8601; without a zone it counts as UTC. */
export function parseTime(value: unknown, path: string): Date {
  if (typeof value !== 'string' || !TIME.test(value)) throw new Unreadable(path);
  const zoned = value.length === 10 || /(Z|[+-]\d\d:?\d\d)$/.test(value.slice(10)) ? value : `${value}Z`;
  const time = new Date(zoned);
  if (!canBeKept(time)) throw new Unreadable(path);
  return time;
}

export function parseListOf<T>(value: unknown, path: string, item: Parse<T>): readonly T[] {
  if (!Array.isArray(value)) throw new Unreadable(path);
  return value.map((one, index) => item(one, `${path}[${index}]`));
}

/** The fields of an object. Null counts as absent: the documents leave fields without a value out. `path`: where it stands, '' the whole body. */
export class Fields {
  readonly #values: ReadonlyMap<string, unknown>;

  constructor(
    value: unknown,
    readonly path = '',
  ) {
    if (value === null || typeof value !== 'object' || Array.isArray(value)) throw new Unreadable(path);
    this.#values = new Map(Object.entries(value).filter(([, member]) => member !== null && member !== undefined));
  }

  /** The names with a value, known or not. */
  names(): string[] {
    return [...this.#values.keys()];
  }

  has(name: string): boolean {
    return this.#values.has(name);
  }

  must<T>(name: string, parse: Parse<T>): T {
    return parse(this.#values.get(name), this.#pathOf(name));
  }

  may<T>(name: string, parse: Parse<T>): T | null {
    return this.#values.has(name) ? this.must(name, parse) : null;
  }

  text(name: string): string {
    return this.must(name, parseText);
  }

  /** A name for later calls: text of at least one and at most `longest` characters. */
  id(name: string, longest = 255): string {
    return this.must(name, (value, path) => {
      const id = parseText(value, path);
      // An id changed for storage names something else.
      if (id === '' || id.length > longest || id !== value) throw new Unreadable(path);
      return id;
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

  /** A count of smallest units, as an exact JSON integer. */
  minor(name: string): bigint {
    return this.must(name, (value, path) => {
      if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 0) throw new Unreadable(path);
      return BigInt(value);
    });
  }

  /** The field `currency`: three letters in either case; upper case comes out. */
  currency(): string {
    return this.must('currency', (value, path) => {
      const code = parseCurrency(value);
      if (code === null) throw new Unreadable(path);
      return code;
    });
  }

  /** Absent is false: Document 1 leaves default values out. */
  flag(name: string): boolean {
    const value = this.#values.get(name);
    if (value !== undefined && typeof value !== 'boolean') throw new Unreadable(this.#pathOf(name));
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
      if (found === undefined) throw new Unreadable(path);
      return found;
    });
  }

  oneOfOrNull<const L extends readonly string[]>(name: string, allowed: L): L[number] | null {
    return this.#values.has(name) ? this.oneOf(name, allowed) : null;
  }

  list<T>(name: string, item: Parse<T>): readonly T[] {
    return this.must(name, (value, path) => parseListOf(value, path, item));
  }

  /** An absent list is an empty one. */
  listOrEmpty<T>(name: string, item: Parse<T>): readonly T[] {
    return this.#values.has(name) ? this.list(name, item) : [];
  }

  /** Data to show or store unchanged; nothing depends on it. */
  raw(name: string): unknown {
    return this.#values.get(name) ?? null;
  }

  #pathOf(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }
}

/** An amount of Document 2, `{amount, currency}`: a decimal string, exact in its currency. */
export function parseMoney(value: unknown, path: string): Money {
  const fields = new Fields(value, path);
  const currency = fields.currency();
  const minor = minorFromDecimal(fields.decimal('amount'), currency);
  if (minor === null) throw new Unreadable(path);
  return { minor, currency };
}

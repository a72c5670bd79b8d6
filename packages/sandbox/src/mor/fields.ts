// Reads a request body field by field and collects every problem under the name the documents use.
import { isDay, parseCountry, parseKnownCurrency } from './countries.js';
import { type Decimal, parseDecimal } from './decimals.js';
import { type FieldError } from '../kernel/json.js';
import { refusal } from './refusal.js';

/** The problems of one request. A value of the wrong kind makes the body unreadable: the problem is under `body`. */
class Problems {
  readonly list: FieldError[] = [];

  add(field: string, message: string): void {
    this.list.push({ field, message });
  }

  unparsable(path: string, message: string): void {
    this.add('body', path === '' ? message : `${path}: ${message}`);
  }

  /** Throws 400 if there is a problem. For an unreadable body the reply names no other problem. */
  throwAs(code: string): void {
    const unparsable = this.list.filter(({ field }) => field === 'body');
    if (this.list.length > 0) throw refusal(400, code, unparsable.length > 0 ? unparsable : this.list);
  }
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** One object of a request. A missing required field gives an empty value and records a problem. */
export class Fields {
  private constructor(
    private readonly values: Readonly<Record<string, unknown>>,
    readonly path: string,
    readonly problems: Problems,
  ) {}

  /** Reads the whole body. Anything but an object is unreadable. */
  static of(body: unknown): Fields {
    const problems = new Problems();
    if (!isRecord(body)) problems.unparsable('', 'must be a JSON object');
    return new Fields(isRecord(body) ? body : {}, '', problems);
  }

  at(name: string): string {
    return this.path === '' ? name : `${this.path}.${name}`;
  }

  has(name: string): boolean {
    return this.raw(name) !== undefined;
  }

  problem(name: string, message: string): void {
    this.problems.add(this.at(name), message);
  }

  private raw(name: string): unknown {
    return Object.hasOwn(this.values, name) ? (this.values[name] ?? undefined) : undefined;
  }

  private missing(name: string): void {
    this.problem(name, 'is required');
  }

  optionalText(name: string): string | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'string') return value;
    this.problems.unparsable(this.at(name), 'must be a string');
    return undefined;
  }

  text(name: string): string {
    const value = this.optionalText(name);
    if (value !== undefined && value.trim() !== '') return value;
    if (value !== undefined || !this.has(name)) this.missing(name);
    return '';
  }

  optionalFlag(name: string): boolean | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'boolean') return value;
    this.problems.unparsable(this.at(name), 'must be true or false');
    return undefined;
  }

  optionalNumber(name: string): number | undefined {
    const value = this.raw(name);
    if (value === undefined || typeof value === 'number') return value;
    this.problems.unparsable(this.at(name), 'must be a number');
    return undefined;
  }

  optionalDecimal(name: string): Decimal | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    const decimal = parseDecimal(value);
    if (decimal === null) this.problems.unparsable(this.at(name), 'must be a plain decimal');
    return decimal ?? undefined;
  }

  decimal(name: string): Decimal {
    if (!this.has(name)) this.missing(name);
    return this.optionalDecimal(name) ?? { digits: 1n, scale: 0 };
  }

  /** One of the listed words. Any other word makes the body unreadable. */
  optionalWord<const W extends string>(name: string, words: readonly W[]): W | undefined {
    const value = this.optionalText(name);
    if (value === undefined) return undefined;
    const word = words.find((known) => known === value);
    if (word === undefined) this.problems.unparsable(this.at(name), `Use one of ${words.join(', ')}`);
    return word;
  }

  optionalCountry(name: string): string | undefined {
    const value = this.optionalText(name);
    if (value === undefined || value.trim() === '') return undefined;
    const country = parseCountry(value);
    if (country === null) this.problem(name, 'must be an ISO 3166-1 alpha-2 country code');
    return country ?? undefined;
  }

  country(name: string): string {
    const value = this.text(name);
    return value === '' ? '' : (this.optionalCountry(name) ?? '');
  }

  currency(name: string): string {
    const value = this.text(name);
    const currency = parseKnownCurrency(value);
    if (value !== '' && currency === null) this.problem(name, 'must be an ISO 4217 currency code');
    return currency ?? '';
  }

  optionalDay(name: string): string | undefined {
    const value = this.optionalText(name);
    if (value === undefined) return undefined;
    if (isDay(value)) return value;
    this.problem(name, 'must be a date, YYYY-MM-DD');
    return undefined;
  }

  day(name: string): string {
    const value = this.text(name);
    return value === '' ? '' : (this.optionalDay(name) ?? '');
  }

  optionalObject(name: string): Fields | undefined {
    const value = this.raw(name);
    if (value === undefined) return undefined;
    if (isRecord(value)) return new Fields(value, this.at(name), this.problems);
    this.problems.unparsable(this.at(name), 'must be an object');
    return undefined;
  }

  /** A required object. If it is missing, reports one problem with the object's name, and none for its fields. */
  object(name: string): Fields | undefined {
    if (!this.has(name)) this.missing(name);
    return this.optionalObject(name);
  }

  optionalArray(name: string): readonly unknown[] | undefined {
    const value = this.raw(name);
    if (value === undefined || Array.isArray(value)) return value;
    this.problems.unparsable(this.at(name), 'must be an array');
    return undefined;
  }

  optionalTexts(name: string): readonly string[] | undefined {
    const values = this.optionalArray(name);
    if (values === undefined) return undefined;
    if (values.every((value): value is string => typeof value === 'string')) return values;
    this.problems.unparsable(this.at(name), 'must be an array of strings');
    return undefined;
  }

  /** Requires a string in every member. A value of another kind makes the body unreadable. */
  requireTexts(): void {
    for (const name of Object.keys(this.values)) this.optionalText(name);
  }

  optionalObjects(name: string): readonly Fields[] {
    const values = this.optionalArray(name) ?? [];
    return values.map((value, index) => {
      const path = `${this.at(name)}[${index}]`;
      if (!isRecord(value)) this.problems.unparsable(path, 'must be an object');
      return new Fields(isRecord(value) ? value : {}, path, this.problems);
    });
  }

  /** A list with at least one object. Reports a missing or empty list. */
  objects(name: string): readonly Fields[] {
    const items = this.optionalObjects(name);
    if (!this.has(name) || (items.length === 0 && Array.isArray(this.raw(name))))
      this.problem(name, 'must have at least one entry');
    return items;
  }
}

/** Leaves out undefined members (Document 2, "omitted rather than null"). Keeps null. */
export function compact(value: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).filter(([, member]) => member !== undefined));
}

// Stripe's error answers, and the reader of its form-encoded parameters.
import { Refusal, type Reply } from '../kernel/http.js';
import { type Json, type JsonObject, isObject } from '../kernel/json.js';

/**
 * A refusal in Stripe's shape. `stored`: whether a repeat with the same key gets the same refusal. Stripe stores
 * failures during the work, but no failed validation (Stripe docs, "Idempotent requests").
 */
export class StripeRefusal extends Refusal {
  constructor(
    reply: Reply,
    readonly stored: boolean,
  ) {
    super(reply);
  }
}

type Extra = { code?: string; param?: string; headers?: Record<string, string> };

export function errorReply(status: number, type: string, message: string, extra: Extra = {}): Reply {
  const error: JsonObject = { type, message };
  if (extra.code !== undefined) error['code'] = extra.code;
  if (extra.param !== undefined) error['param'] = extra.param;
  return { status, body: { error }, ...(extra.headers === undefined ? {} : { headers: extra.headers }) };
}

/** Refuses a missing parameter, or a parameter of the wrong kind. */
export function invalidParam(param: string, message: string, code = 'parameter_invalid'): never {
  throw new StripeRefusal(errorReply(400, 'invalid_request_error', message, { code, param }), false);
}

/** Refuses a valid request that the present state does not allow. */
export function cannot(code: string, message: string, param?: string): never {
  const extra = param === undefined ? { code } : { code, param };
  throw new StripeRefusal(errorReply(400, 'invalid_request_error', message, extra), true);
}

export function missing(kind: string, id: string, param = 'id'): never {
  const reply = errorReply(404, 'invalid_request_error', `No such ${kind}: '${id}'`, {
    code: 'resource_missing',
    param,
  });
  throw new StripeRefusal(reply, false);
}

/** Reads the parameters of a request; all are text. A wrong parameter throws 400 with its name. */
export class Params {
  constructor(
    readonly value: JsonObject,
    private readonly prefix = '',
  ) {}

  static of(body: Json | undefined): Params {
    return new Params(isObject(body) ? body : {});
  }

  /** False if the parameter is absent or empty. */
  has(name: string): boolean {
    return this.value[name] !== undefined && this.value[name] !== '';
  }

  text(name: string): string {
    const value = this.value[name];
    if (value === undefined || value === '') {
      return invalidParam(this.name(name), `Missing required param: ${this.name(name)}.`, 'parameter_missing');
    }
    return typeof value === 'string' ? value : invalidParam(this.name(name), `Invalid string: ${this.name(name)}`);
  }

  optionalText(name: string): string | null {
    return this.has(name) ? this.text(name) : null;
  }

  integer(name: string): number {
    const text = this.text(name);
    if (!/^-?\d{1,15}$/.test(text))
      return invalidParam(this.name(name), `Invalid integer: ${text}`, 'parameter_invalid_integer');
    return Number(text);
  }

  /** A whole number above zero. */
  positive(name: string): number {
    const value = this.integer(name);
    return value > 0 ? value : invalidParam(this.name(name), 'This value must be greater than or equal to 1.');
  }

  optionalInteger(name: string): number | null {
    return this.has(name) ? this.integer(name) : null;
  }

  flag(name: string): boolean | null {
    if (!this.has(name)) return null;
    const text = this.text(name);
    if (text !== 'true' && text !== 'false') return invalidParam(this.name(name), `Invalid boolean: ${text}`);
    return text === 'true';
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const text = this.text(name);
    const found = allowed.find((a) => a === text);
    return found ?? invalidParam(this.name(name), `Invalid ${this.name(name)}: must be one of ${allowed.join(', ')}`);
  }

  currency(name: string): string {
    const text = this.text(name);
    return /^[A-Za-z]{3}$/.test(text) ? text.toLowerCase() : invalidParam(this.name(name), `Invalid currency: ${text}`);
  }

  /** A nested object; null if absent. */
  within(name: string): Params | null {
    const value = this.value[name];
    if (value === undefined) return null;
    if (!isObject(value)) return invalidParam(this.name(name), `Invalid object: ${this.name(name)}`);
    return new Params(value, this.name(name));
  }

  list(name: string): Params[] {
    const value = this.value[name];
    if (value === undefined || value === '') return [];
    if (!Array.isArray(value)) return invalidParam(this.name(name), `Invalid array: ${this.name(name)}`);
    return value.map((item, i) => new Params(isObject(item) ? item : {}, `${this.name(name)}[${i}]`));
  }

  texts(name: string): string[] {
    const value = this.value[name];
    if (value === undefined || value === '') return [];
    const items = Array.isArray(value) ? value : [value];
    return items.filter((item): item is string => typeof item === 'string');
  }

  /**
   * Merges the metadata of the request into the existing one. An empty value removes its key; an empty `metadata`
   * removes all.
   */
  metadata(before: Record<string, string> = {}): Record<string, string> {
    const given = this.value['metadata'];
    if (given === '') return {};
    const merged = { ...before };
    for (const [key, value] of Object.entries(isObject(given) ? given : {})) {
      if (value === '') delete merged[key];
      else if (typeof value === 'string') merged[key] = value;
    }
    return merged;
  }

  private name(name: string): string {
    return this.prefix === '' ? name : `${this.prefix}[${name}]`;
  }
}

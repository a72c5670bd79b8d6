// JSON values in the sandbox, and the small readers for the input of control routes.

export type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
export type JsonObject = { [key: string]: Json };

export function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A refused field of a request, in the shape of the MoR's documents. */
export type FieldError = { readonly field: string; readonly message: string };

/** Wrong input of a control route. The caller gets 400 `{code:"invalid_request", errors:[{field,message}]}`. */
export class BadInput extends Error {
  constructor(readonly errors: readonly FieldError[]) {
    super(errors.map((e) => `${e.field}: ${e.message}`).join('; '));
  }
}

/**
 * Reads the fields of a control body. Each reader throws BadInput with the name of the field if the value has the wrong
 * kind.
 */
export class Fields {
  readonly value: JsonObject;

  constructor(body: Json | undefined) {
    if (body !== undefined && !isObject(body))
      throw new BadInput([{ field: 'body', message: 'must be a JSON object' }]);
    this.value = body ?? {};
  }

  has(name: string): boolean {
    return this.value[name] !== undefined && this.value[name] !== null;
  }

  string(name: string): string {
    const value = this.value[name];
    if (typeof value !== 'string' || value === '') return this.refuse(name, 'must be a string');
    return value;
  }

  optionalString(name: string): string | undefined {
    return this.has(name) ? this.string(name) : undefined;
  }

  /** A finite number between `min` and `max`. */
  number(name: string, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
    const value = this.value[name];
    if (typeof value !== 'number' || !Number.isFinite(value) || value < min || value > max) {
      return this.refuse(name, `must be a number${min > Number.NEGATIVE_INFINITY ? ` of at least ${min}` : ''}`);
    }
    return value;
  }

  optionalNumber(name: string, min?: number, max?: number): number | undefined {
    return this.has(name) ? this.number(name, min, max) : undefined;
  }

  optionalBoolean(name: string): boolean | undefined {
    if (!this.has(name)) return undefined;
    const value = this.value[name];
    return typeof value === 'boolean' ? value : this.refuse(name, 'must be true or false');
  }

  optionalObject(name: string): JsonObject | undefined {
    if (!this.has(name)) return undefined;
    const value = this.value[name];
    return isObject(value) ? value : this.refuse(name, 'must be an object');
  }

  oneOf<T extends string>(name: string, allowed: readonly T[]): T {
    const value = this.value[name];
    const found = allowed.find((a) => a === value);
    return found ?? this.refuse(name, `must be one of ${allowed.join(', ')}`);
  }

  refuse(field: string, message: string): never {
    throw new BadInput([{ field, message }]);
  }
}

// One description of a request gives its TypeScript type, the check of its fields, and its JSON Schema. A check never
// compares two fields. The MoR does, and its 4xx answer names the wrong fields.
import { type ErrorCode } from './error-guide.js';

export type JsonSchema = {
  readonly $ref?: string;
  type?: string;
  format?: string;
  pattern?: string;
  description?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  enum?: (string | boolean)[];
  oneOf?: JsonSchema[];
  items?: JsonSchema;
  additionalProperties?: JsonSchema;
  properties?: Record<string, JsonSchema>;
  required?: string[];
  example?: unknown;
};

export type FieldError = { readonly field: string; readonly message: string };

/** The result of a check. `code`: the MoR's own code for this mistake. */
export type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: ErrorCode; readonly errors: readonly FieldError[] };

/** The allowed values of one place in a request. */
export interface Rule<T> {
  readonly schema: JsonSchema;
  readonly isOptional?: boolean;
  /** The shapes inside the values, for the OpenAPI document. */
  readonly shapes: readonly Shape<Members>[];
  /** The mistakes of a value. Empty: the value is right. */
  find(value: unknown, path: string): readonly FieldError[];
  /** Never set: it only carries the type `T`. */
  readonly example?: T;
}

export type Members = Readonly<Record<string, Rule<unknown>>>;
/** The type of a rule's values: `ValueOf<typeof paymentLinkRequest>`. */
export type ValueOf<R> = R extends Rule<infer T> ? T : never;
type OptionalNames<M> = { [N in keyof M]: M[N] extends { readonly isOptional: true } ? N : never }[keyof M];
type ObjectOf<M> = Flat<
  { readonly [N in Exclude<keyof M, OptionalNames<M>>]: ValueOf<M[N]> } & {
    readonly [N in OptionalNames<M>]?: ValueOf<M[N]>;
  }
>;
type Flat<T> = { [N in keyof T]: T[N] };

/** More lines than any order or invoice has. */
const MAX_LIST = 1_000;
const MAX_TEXT = 10_000;
const MAX_ERRORS = 100;
const MAX_PATH = 200;
const NOT_A_FIELD = 'is not a field of this request';
const DECIMAL = /^\d{1,16}(\.\d{1,12})?$/;
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** A rule for a value without members. */
function rule<T>(schema: JsonSchema, message: string, isRight: (value: unknown) => boolean): Rule<T> {
  return { schema, shapes: [], find: (value, field) => (isRight(value) ? [] : [{ field, message }]) };
}

/** The field may be absent. Null counts as absent. */
export function optional<T>(inner: Rule<T>): Rule<T> & { readonly isOptional: true } {
  const { schema, shapes } = inner;
  return { schema, shapes, isOptional: true, find: (value, path) => inner.find(value, path) };
}

/** Adds a description for the OpenAPI document, where the name of a field is not clear enough. */
export function about<R extends Rule<unknown>>(description: string, inner: R): R {
  return { ...inner, schema: { ...inner.schema, description } };
}

const limit = (longest: number): JsonSchema => (longest === MAX_TEXT ? {} : { maxLength: longest });

/** A text with at least one visible character. */
export const filled = (longest = MAX_TEXT): Rule<string> =>
  rule(
    { type: 'string', minLength: 1, ...limit(longest) },
    `must be text, not blank and at most ${longest} characters long`,
    (value) => typeof value === 'string' && value.trim() !== '' && value.length <= longest,
  );

/** A text. It may be empty. */
export const text = (longest = MAX_TEXT): Rule<string> =>
  rule(
    { type: 'string', ...limit(longest) },
    `must be text of at most ${longest} characters`,
    (value) => typeof value === 'string' && value.length <= longest,
  );

const matching = (schema: JsonSchema, pattern: RegExp, message: string): Rule<string> =>
  rule({ type: 'string', ...schema }, message, (value) => typeof value === 'string' && pattern.test(value));

export const country = matching(
  { pattern: '^[A-Z]{2}$' },
  /^[A-Z]{2}$/,
  'must be a country code of two capital letters',
);
export const currency = matching(
  { pattern: '^[A-Za-z]{3}$' },
  /^[A-Za-z]{3}$/,
  'must be a currency code of three letters',
);
export const uuid = matching({ format: 'uuid' }, UUID, 'must be a uuid');
/** A decimal of 0 or more, only as text. */
export const decimalText = matching({}, DECIMAL, 'must be a decimal of 0 or more written as text, such as "10.10"');
/** A decimal above 0, only as text. */
export const positiveDecimalText = rule<string>(
  { type: 'string' },
  'must be a decimal above 0 written as text, such as "10.10"',
  (value) => typeof value === 'string' && DECIMAL.test(value) && /[1-9]/.test(value),
);
/** A decimal of 0 or more. Document 2: requests may write it as text or as a JSON number. */
export const decimal = rule<string | number>(
  { oneOf: [{ type: 'string' }, { type: 'number' }] },
  'must be a decimal of 0 or more, such as "10.10"',
  // Refuses NaN, and a number with an exponent or a sign.
  (value) => (typeof value === 'string' || typeof value === 'number') && DECIMAL.test(String(value)),
);
export const number = rule<number>(
  { type: 'number', minimum: 0 },
  'must be a number of 0 or more',
  (value) => typeof value === 'number' && Number.isFinite(value) && value >= 0,
);
export const flag = rule<boolean>({ type: 'boolean' }, 'must be true or false', (value) => typeof value === 'boolean');
/** A day of the calendar, as YYYY-MM-DD. */
export const day = rule<string>(
  { type: 'string', format: 'date' },
  'must be a day as YYYY-MM-DD',
  (value) => typeof value === 'string' && isDay(value),
);
/** A list of anything. */
export const list = rule<readonly unknown[]>({ type: 'array', items: {} }, 'must be a list', Array.isArray);

export function isDay(value: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(value)) return false;
  const time = new Date(`${value}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(value);
}

export const oneOf = <const T extends string | boolean>(...allowed: readonly T[]): Rule<T> =>
  rule({ type: typeof allowed[0], enum: [...allowed] }, `must be one of ${allowed.join(', ')}`, (value) =>
    allowed.some((one) => one === value),
  );

export const wholeNumber = (least: number, most: number): Rule<number> =>
  rule(
    { type: 'integer', minimum: least, maximum: most },
    `must be a whole number from ${least} to ${most}`,
    (value) => Number.isInteger(value) && Number(value) >= least && Number(value) <= most,
  );

export const textList = (least = 0): Rule<readonly string[]> =>
  rule(
    { type: 'array', items: { type: 'string' }, minItems: least },
    `must be a list of ${least === 0 ? '' : `at least ${least} `}texts that are not blank, at most ${MAX_LIST}`,
    (value) =>
      Array.isArray(value) &&
      value.length >= least &&
      value.length <= MAX_LIST &&
      value.every((one) => typeof one === 'string' && one.trim() !== ''),
  );

/** An object of texts. The caller chooses the keys. */
export const textMap = rule<Readonly<Record<string, string>>>(
  { type: 'object', additionalProperties: { type: 'string' } },
  'must be an object whose values are texts',
  (value) => isObject(value) && Object.values(value).every((one) => typeof one === 'string'),
);

export function listOf<T>(item: Rule<T>, least: number): Rule<readonly T[]> {
  const message = `must be a list of ${least === 0 ? '' : `at least ${least} `}objects, at most ${MAX_LIST}`;
  return {
    schema: { type: 'array', items: item.schema, minItems: least },
    shapes: item.shapes,
    find(value, path) {
      if (!Array.isArray(value) || value.length < least || value.length > MAX_LIST || !value.every(isObject))
        return [{ field: path, message }];
      return value.flatMap((one, index) => item.find(one, `${path}[${index}]`));
    },
  };
}

/** An object with known fields. `name`: its name in an OpenAPI document. */
export function shape<const M extends Members>(
  name: string,
  members: M,
  code: ErrorCode = 'invalid_argument',
): Shape<M> {
  return new Shape(name, members, code);
}

export class Shape<M extends Members> implements Rule<ObjectOf<M>> {
  declare readonly example?: ObjectOf<M>;
  readonly schema: JsonSchema;

  constructor(
    readonly name: string,
    readonly members: M,
    readonly code: ErrorCode,
    readonly sample: object | null = null,
  ) {
    this.schema = { $ref: `#/components/schemas/${name}` };
  }

  get shapes(): readonly Shape<Members>[] {
    return [this];
  }

  /** The whole JSON Schema. `schema` is only a reference to it. */
  get definition(): JsonSchema {
    const members = Object.entries(this.members);
    const required = members.filter(([, { isOptional }]) => isOptional !== true).map(([name]) => name);
    return {
      type: 'object',
      properties: Object.fromEntries(members.map(([name, { schema }]) => [name, schema])),
      ...(required.length === 0 ? {} : { required }),
      ...(this.sample === null ? {} : { example: this.sample }),
    };
  }

  /** Adds an example for the OpenAPI document. */
  like(sample: ObjectOf<M> & object): Shape<M> {
    return new Shape(this.name, this.members, this.code, sample);
  }

  /** Makes a shape with the same fields, all optional. */
  partial(name: string): Shape<Members> {
    const members = Object.entries(this.members).map(([field, member]) => [field, optional(member)] as const);
    return new Shape(name, Object.fromEntries(members), this.code);
  }

  /**
   * Checks a parsed JSON body. An unknown field is a mistake, so nothing unchecked goes on. Null counts as absent, and
   * the result has no nulls. Never throws.
   */
  check(body: unknown): Checked<ObjectOf<M>> {
    const wrong = (errors: readonly FieldError[]): Checked<never> => ({ ok: false, code: this.code, errors });
    if (!isObject(body)) return wrong([{ field: 'body', message: 'must be a JSON object' }]);
    try {
      const value = withoutNulls(body);
      const errors = this.find(value, '').slice(0, MAX_ERRORS);
      if (errors.length > 0) return wrong(errors.map((one) => ({ ...one, field: one.field.slice(0, MAX_PATH) })));
      return { ok: true, value: value as ObjectOf<M> }; // the check just proved it
    } catch {
      // The body nests too deep for the stack. Nothing else here can throw.
      return wrong([{ field: 'body', message: 'could not be read' }]);
    }
  }

  find(value: unknown, path: string): readonly FieldError[] {
    if (!isObject(value)) return [{ field: path, message: 'must be an object' }];
    const pathOf = (name: string): string => (path === '' ? name || '""' : `${path}.${name || '""'}`);
    const strangers = Object.keys(value).filter((name) => !Object.hasOwn(this.members, name));
    return [
      ...strangers.map((name) => ({ field: pathOf(name), message: NOT_A_FIELD })),
      ...Object.entries(this.members).flatMap(([name, member]) => {
        const has = Object.hasOwn(value, name) && value[name] !== undefined;
        return member.isOptional === true && !has ? [] : member.find(has ? value[name] : undefined, pathOf(name));
      }),
    ];
  }
}

/** The JSON Schemas of these shapes and of all shapes inside them, by name. */
export function definitionsOf(shapes: readonly Shape<Members>[]): Record<string, JsonSchema> {
  return Object.assign(
    {},
    ...shapes.map((one) => ({
      ...definitionsOf(Object.values(one.members).flatMap((member) => member.shapes)),
      [one.name]: one.definition,
    })),
  ) as Record<string, JsonSchema>;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

/** A copy without null members, at every depth. */
function withoutNulls(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutNulls);
  if (!isObject(value)) return value;
  const kept = Object.entries(value).filter(([, member]) => member !== null);
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutNulls(member)]));
}

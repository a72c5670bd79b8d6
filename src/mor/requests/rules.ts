// What request fields may be: the check, with a message for the person who wrote the request, and what the OpenAPI document says of it.
import 'reflect-metadata'; // before any class of this folder is decorated
import { ApiProperty } from '@nestjs/swagger';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  ArrayMinSize,
  IsArray,
  IsBoolean,
  IsIn,
  IsInt,
  IsObject,
  IsOptional,
  Matches,
  Max,
  Min,
  ValidateBy,
  ValidateNested,
} from 'class-validator';

/** More lines than any order or invoice has; keeps one request from holding the process. */
const MAX_LIST = 1_000;
const MAX_TEXT = 10_000;
const DECIMAL = /^\d{1,16}(\.\d{1,12})?$/;

function all(...rules: PropertyDecorator[]): PropertyDecorator {
  return (target, property) => rules.forEach((rule) => rule(target, property));
}

function satisfies(name: string, message: string, test: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: test, defaultMessage: () => message } });
}

/** The document names a limit only where it is one of the MoR's: the longest text there is keeps one request from filling the process. */
function limit(longest: number): { maxLength?: number } {
  return longest === MAX_TEXT ? {} : { maxLength: longest };
}

/** For the OpenAPI document: what the field means, where its name does not say it. */
export const About = (description: string): PropertyDecorator => ApiProperty({ description });

/** May be left out; null counts as left out. */
export const Optional = (): PropertyDecorator => all(IsOptional(), ApiProperty({ required: false }));

/** Text with at least one visible character. */
export function Filled(longest = MAX_TEXT): PropertyDecorator {
  return all(
    ApiProperty({ type: String, minLength: 1, ...limit(longest) }),
    satisfies(
      'filled',
      `must be text, not blank and at most ${longest} characters long`,
      (value) => typeof value === 'string' && value.trim() !== '' && value.length <= longest,
    ),
  );
}

/** Text that may be empty. */
export function Text(longest = MAX_TEXT): PropertyDecorator {
  return all(
    ApiProperty({ type: String, ...limit(longest) }),
    satisfies(
      'text',
      `must be text of at most ${longest} characters`,
      (value) => typeof value === 'string' && value.length <= longest,
    ),
  );
}

export function Country(): PropertyDecorator {
  return all(
    ApiProperty({ type: String, pattern: '^[A-Z]{2}$' }),
    Matches(/^[A-Z]{2}$/, { message: 'must be a country code of two capital letters' }),
  );
}

export function Currency(): PropertyDecorator {
  return all(
    ApiProperty({ type: String, pattern: '^[A-Za-z]{3}$' }),
    Matches(/^[A-Za-z]{3}$/, { message: 'must be a currency code of three letters' }),
  );
}

export function OneOf(allowed: readonly (string | boolean)[]): PropertyDecorator {
  return all(
    ApiProperty({ enum: [...allowed] }),
    IsIn([...allowed], { message: `must be one of ${allowed.join(', ')}` }),
  );
}

export function Uuid(): PropertyDecorator {
  const shape = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;
  return all(ApiProperty({ type: String, format: 'uuid' }), Matches(shape, { message: 'must be a uuid' }));
}

/** A decimal of 0 or more. Document 2: requests may write it as text or as a JSON number. */
export function Decimal(): PropertyDecorator {
  return all(
    ApiProperty({ oneOf: [{ type: 'string' }, { type: 'number' }] }),
    satisfies('decimal', 'must be a decimal of 0 or more, such as "10.10"', (value) => {
      if (typeof value !== 'string' && typeof value !== 'number') return false;
      return DECIMAL.test(String(value)); // a number that prints with an exponent, a sign or NaN does not pass
    }),
  );
}

/** A decimal above 0, as text only. */
export function PositiveDecimalText(): PropertyDecorator {
  return all(
    ApiProperty({ type: String }),
    satisfies(
      'positiveDecimalText',
      'must be a decimal above 0 written as text, such as "10.10"',
      (value) => typeof value === 'string' && DECIMAL.test(value) && /[1-9]/.test(value),
    ),
  );
}

/** A decimal of 0 or more, as text only. */
export function DecimalText(): PropertyDecorator {
  return all(
    ApiProperty({ type: String }),
    Matches(DECIMAL, { message: 'must be a decimal of 0 or more written as text, such as "10.10"' }),
  );
}

export function WholeNumber(least: number, most: number): PropertyDecorator {
  const message = `must be a whole number from ${least} to ${most}`;
  return all(
    ApiProperty({ type: 'integer', minimum: least, maximum: most }),
    IsInt({ message }),
    Min(least, { message }),
    Max(most, { message }),
  );
}

/** A day that exists, as YYYY-MM-DD. */
export function Day(): PropertyDecorator {
  return all(
    ApiProperty({ type: String, format: 'date' }),
    satisfies('day', 'must be a day as YYYY-MM-DD', (value) => typeof value === 'string' && isDay(value)),
  );
}

export function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const time = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(time.getTime()) && time.toISOString().startsWith(text);
}

export function TextList(least = 0): PropertyDecorator {
  const message = `must be a list of ${least === 0 ? '' : `at least ${least} `}texts that are not blank`;
  return all(
    ApiProperty({ type: [String], minItems: least }),
    IsArray({ message }),
    ArrayMinSize(least, { message }),
    ArrayMaxSize(MAX_LIST, { message: `must have at most ${MAX_LIST} entries` }),
    satisfies('textList', message, (value) => {
      return Array.isArray(value) && value.every((one) => typeof one === 'string' && one.trim() !== '');
    }),
  );
}

/** An object whose values are texts; its keys are the caller's own. */
export function TextMap(): PropertyDecorator {
  return all(
    ApiProperty({ type: 'object', additionalProperties: { type: 'string' } }),
    satisfies('textMap', 'must be an object whose values are texts', (value) => {
      if (value === null || typeof value !== 'object' || Array.isArray(value)) return false;
      return Object.values(value).every((one) => typeof one === 'string');
    }),
  );
}

/** An object of the given class. */
export function Nested(type: () => new () => object): PropertyDecorator {
  const message = 'must be an object';
  return all(ApiProperty({ type: () => type() }), IsObject({ message }), ValidateNested({ message }), Type(type));
}

/** A list of objects of the given class. */
export function NestedList(type: () => new () => object, least: number): PropertyDecorator {
  const message = `must be a list of ${least === 0 ? '' : `at least ${least} `}objects`;
  return all(
    ApiProperty({ type: () => type(), isArray: true, minItems: least }),
    IsArray({ message }),
    ArrayMinSize(least, { message }),
    ArrayMaxSize(MAX_LIST, { message: `must have at most ${MAX_LIST} entries` }),
    satisfies('objects', message, (value) => Array.isArray(value) && value.every(isPlainObject)),
    ValidateNested({ each: true, message }),
    Type(type),
  );
}

function isPlainObject(value: unknown): boolean {
  return value !== null && typeof value === 'object' && !Array.isArray(value);
}

export function Flag(): PropertyDecorator {
  return all(ApiProperty({ type: Boolean }), IsBoolean({ message: 'must be true or false' }));
}

/** A list of anything. */
export function List(): PropertyDecorator {
  return all(ApiProperty({ type: 'array', items: {} }), IsArray({ message: 'must be a list' }));
}

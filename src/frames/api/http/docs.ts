// Short decorators for fields and replies in the OpenAPI document. The decorator's name ends in OrNull if the field may
// be null, and in IfAny if the field may be absent. A rule of `rules.ts` on the same field adds its own limits.
import { type JsonSchema } from '@crossbill/mor';
import { applyDecorators, type Type } from '@nestjs/common';
import {
  ApiBody,
  ApiExtension,
  ApiHeader,
  ApiProperty,
  ApiPropertyOptional,
  type ApiPropertyOptions,
  ApiResponse,
} from '@nestjs/swagger';
import { ProblemView } from './problem.view.js';

type Field = (description?: string) => PropertyDecorator;

const field = (schema: ApiPropertyOptions, description?: string): PropertyDecorator =>
  ApiProperty(description === undefined ? schema : { ...schema, description });
const optional = (schema: ApiPropertyOptions, description?: string): PropertyDecorator =>
  ApiPropertyOptional(description === undefined ? schema : { ...schema, description });
const orNull = { nullable: true } as const;
const text = { type: String } as const;
const time = { type: String, format: 'date-time' } as const;
const whole = { type: 'integer' } as const;
const minor = { type: 'integer', format: 'int64' } as const;
const anything = { type: 'object', additionalProperties: true } as const;

/** The field's value in the document's examples. Write this decorator before the field's type, such as `@Text()`. */
export const Example = (example: unknown): PropertyDecorator => ApiProperty({ example });

export const Text: Field = (about) => field(text, about);
export const TextOrNull: Field = (about) => field({ ...text, ...orNull }, about);
export const TextIfAny: Field = (about) => optional(text, about);
export const Flag: Field = (about) => field({ type: Boolean }, about);
export const FlagIfAny: Field = (about) => optional({ type: Boolean }, about);
export const Count: Field = (about) => field(whole, about);
export const CountOrNull: Field = (about) => field({ ...whole, ...orNull }, about);
export const Time: Field = (about) => field(time, about);
export const TimeOrNull: Field = (about) => field({ ...time, ...orNull }, about);
export const TimeIfAny: Field = (about) => optional(time, about);
export const Word = (words: readonly string[], about?: string): PropertyDecorator => field({ enum: [...words] }, about);
export const WordOrNull = (words: readonly string[], about?: string): PropertyDecorator =>
  field({ enum: [...words], ...orNull }, about);
export const Words = (words: readonly string[], about?: string): PropertyDecorator =>
  field({ enum: [...words], isArray: true }, about);
export const Amount = (about = 'Smallest units of the currency, as Stripe counts them.'): PropertyDecorator =>
  field({ ...minor, example: 2990 }, about);
export const AmountOrNull = (about = 'Smallest units of the currency; null: not known.'): PropertyDecorator =>
  field({ ...minor, ...orNull }, about);
export const Currency = (): PropertyDecorator => field({ ...text, example: 'eur' }, 'ISO 4217, lower case.');
type Item = Type | typeof String;
export const Many = (item: Item, about?: string): PropertyDecorator => field({ type: [item] }, about);
export const ManyIfAny = (item: Item, about?: string): PropertyDecorator => optional({ type: [item] }, about);
/** A field with an object as its value. The class `part` describes the object. */
export const Part = (part: Type, about?: string): PropertyDecorator => field({ type: part }, about);
export const PartOrNull = (part: Type, about?: string): PropertyDecorator => field({ type: part, ...orNull }, about);
export const PartIfAny = (part: Type, about?: string): PropertyDecorator => optional({ type: part }, about);
/** A field with any object as its value. */
export const Open: Field = (about) => field(anything, about);
export const OpenOrNull: Field = (about) => field({ ...anything, ...orNull }, about);
export const OpenIfAny: Field = (about) => optional(anything, about);
/** A body in the shape of a request to the MoR. MOR_SHAPES (mor-shapes.ts) must contain the shape. */
export const MorBody = ({ schema }: { readonly schema: JsonSchema }): MethodDecorator => ApiBody({ schema });
/** A field in the MoR's own shape. It may be absent. */
export const MorPartIfAny = ({ schema }: { readonly schema: JsonSchema }, about: string): PropertyDecorator =>
  optional({ allOf: [schema] }, about);

/** Describes the replies of a route except success: status and meaning, with codes in backquotes. */
export function Problems(problems: Readonly<Record<number, string>>): MethodDecorator {
  return applyDecorators(
    ...Object.entries(problems).map(([status, description]) =>
      ApiResponse({ status: Number(status), description, type: ProblemView }),
    ),
  );
}

/** The reply while the MoR has not finished the document. */
export class PendingView {
  @Word(['pending']) status!: 'pending';
}

/** Marks a POST as safe to repeat without an Idempotency-Key: a client may send it again after a missing reply. */
export const Repeatable = (): MethodDecorator => ApiExtension('x-repeatable', true);

/**
 * Describes the Idempotency-Key header. A key belongs to one request for ever. `required` false: each request without a
 * key is a new request.
 */
export const KeyHeader = (required: boolean): MethodDecorator =>
  ApiHeader({ name: 'Idempotency-Key', required, description: '1 to 255 printable characters.' });

// Short ways to describe answers in the OpenAPI document.
import { type JsonSchema } from '@crossbill/mor';
import { applyDecorators, type Type } from '@nestjs/common';
import { ApiBody, ApiExtension, ApiHeader, ApiProperty, ApiPropertyOptional, ApiResponse } from '@nestjs/swagger';
import { ProblemView } from './problem.view.js';

const about = (description?: string): { description?: string } => (description === undefined ? {} : { description });

export const Text = (description?: string): PropertyDecorator => ApiProperty({ type: String, ...about(description) });
export const TextOrNull = (description?: string): PropertyDecorator =>
  ApiProperty({ type: String, nullable: true, ...about(description) });
/** Left out when there is none. */
export const TextIfAny = (description?: string): PropertyDecorator =>
  ApiPropertyOptional({ type: String, ...about(description) });
export const Flag = (description?: string): PropertyDecorator => ApiProperty({ type: Boolean, ...about(description) });
/** Left out if unknown. */
export const FlagIfAny = (description?: string): PropertyDecorator =>
  ApiPropertyOptional({ type: Boolean, ...about(description) });
export const Count = (description?: string): PropertyDecorator =>
  ApiProperty({ type: 'integer', ...about(description) });
export const Word = (words: readonly string[], description?: string): PropertyDecorator =>
  ApiProperty({ enum: [...words], ...about(description) });
export const Time = (description?: string): PropertyDecorator =>
  ApiProperty({ type: String, format: 'date-time', ...about(description) });
export const TimeOrNull = (description?: string): PropertyDecorator =>
  ApiProperty({ type: String, format: 'date-time', nullable: true, ...about(description) });
export const TimeIfAny = (description?: string): PropertyDecorator =>
  ApiPropertyOptional({ type: String, format: 'date-time', ...about(description) });
export const Amount = (description = 'Smallest units of the currency, as Stripe counts them.'): PropertyDecorator =>
  ApiProperty({ type: 'integer', format: 'int64', description, example: 2990 });
export const AmountOrNull = (description = 'Smallest units of the currency; null: not known.'): PropertyDecorator =>
  ApiProperty({ type: 'integer', format: 'int64', nullable: true, description });
export const Currency = (): PropertyDecorator => ApiProperty({ description: 'ISO 4217, lower case.', example: 'eur' });
export const Many = (item: Type | [typeof String], description?: string): PropertyDecorator =>
  ApiProperty({ type: Array.isArray(item) ? item : [item], ...about(description) });
/** An object with fields of its own. */
export const Part = (part: Type, description?: string): PropertyDecorator =>
  ApiProperty({ type: part, ...about(description) });
export const PartOrNull = (part: Type, description?: string): PropertyDecorator =>
  ApiProperty({ type: part, nullable: true, ...about(description) });
/** Left out when there is none. */
export const PartIfAny = (part: Type, description?: string): PropertyDecorator =>
  ApiPropertyOptional({ type: part, ...about(description) });
/** The body of a request for the MoR: `openapi.ts` lists its shape. */
export const MorBody = ({ schema }: { readonly schema: JsonSchema }): MethodDecorator => ApiBody({ schema });
/** A part of the MoR's own shape, perhaps left out. */
export const MorPartIfAny = ({ schema }: { readonly schema: JsonSchema }, description: string): PropertyDecorator =>
  ApiPropertyOptional({ allOf: [schema], description });
/** Somebody else's content, without nameable fields. */
export const Free = (description: string): PropertyDecorator =>
  ApiProperty({ type: 'object', additionalProperties: true, nullable: true, description });
/** Left out when there is none. */
export const FreeIfAny = (description: string): PropertyDecorator =>
  ApiPropertyOptional({ type: 'object', additionalProperties: true, description });

/** A route's answers besides its success: status and meaning, codes in backquotes. */
export function Problems(problems: Readonly<Record<number, string>>): MethodDecorator {
  return applyDecorators(
    ...Object.entries(problems).map(([status, description]) =>
      ApiResponse({ status: Number(status), description, type: ProblemView }),
    ),
  );
}

/** The answer before the file is ready. */
export class PendingView {
  @Word(['pending']) status!: 'pending';
}

/** A POST safe to repeat without any Idempotency-Key: a client may send it again after silence. */
export const Repeatable = (): MethodDecorator => ApiExtension('x-repeatable', true);

/** The header naming a request for good; `required` false: without it each request is a new one. */
export const KeyHeader = (required: boolean): MethodDecorator =>
  ApiHeader({ name: 'Idempotency-Key', required, description: '1 to 255 printable characters.' });

// Checks a controller's input against its class, and names the wrong fields.
import { isObject } from '@crossbill/mor/read.js';
import { type ArgumentMetadata, applyDecorators, Injectable, type PipeTransform } from '@nestjs/common';
import { validate, ValidateNested, type ValidationError } from 'class-validator';
import { type FieldError, Problem } from './problem.js';

type Class = new () => object;

// Forbidden names of fields: every JavaScript object has members with these names, so the validator would take the
// class's own member for the field.
const NEVER_FIELDS = ['__proto__', 'constructor', 'prototype'];
const NOT_A_FIELD = 'is unknown here: see /docs for the fields of this request';
const nested = new WeakMap<object, Map<string, () => Class>>();

/** Declares a nested object of the class `type`. The validator then checks its members too. */
export function Nested(type: () => Class): PropertyDecorator {
  const remember: PropertyDecorator = (target, property) => {
    const members = nested.get(target) ?? new Map<string, () => Class>();
    nested.set(target, members.set(String(property), type));
  };
  return applyDecorators(ValidateNested(), remember);
}

/**
 * Refuses an unknown field of a body and an unknown parameter of a query: a misspelt `amount` must never mean "the
 * whole amount". Takes values as they are, without conversion.
 */
@Injectable()
export class InputPipe implements PipeTransform {
  async transform(value: unknown, { type, metatype }: ArgumentMetadata): Promise<unknown> {
    if ((type !== 'body' && type !== 'query') || metatype === undefined || metatype === Object) return value;
    const unknown: FieldError[] = [];
    const input = instanceOf(metatype as Class, value, '', unknown);
    const errors = await validate(input, {
      whitelist: true,
      forbidNonWhitelisted: true,
      forbidUnknownValues: false,
      validationError: { target: false, value: false },
    });
    const found = [...unknown, ...errors.flatMap((e) => fieldErrors(e, ''))];
    const [first] = found;
    if (first === undefined) return input;
    throw new Problem(400, 'invalid_request', `${first.field}: ${first.message}`, found.slice(0, 20));
  }
}

/**
 * Makes an instance of `type` for the validator, with the values of `value`. Makes instances of nested classes as well.
 * Notes forbidden field names in `unknown`.
 */
function instanceOf(type: Class, value: unknown, path: string, unknown: FieldError[]): object {
  const input = new type();
  const members: readonly [string, unknown][] = Object.entries(
    typeof value === 'object' && value !== null ? value : {},
  );
  for (const [name, inner] of members) {
    if (NEVER_FIELDS.includes(name)) {
      unknown.push({ field: path + name, message: NOT_A_FIELD });
      continue;
    }
    const innerType = nested.get(type.prototype as object)?.get(name);
    const taken: unknown =
      innerType !== undefined && isObject(inner) ? instanceOf(innerType(), inner, `${path}${name}.`, unknown) : inner;
    Object.defineProperty(input, name, { value: taken, enumerable: true, writable: true, configurable: true });
  }
  return input;
}

function fieldErrors(error: ValidationError, path: string): FieldError[] {
  // A field can have an empty name in JSON. The reply shows the empty name as `""`.
  const name = error.property === '' ? '""' : error.property;
  const index = /^\d+$/.test(name);
  const field = (path === '' ? name : index ? `${path}[${name}]` : `${path}.${name}`).slice(0, 100);
  const own = Object.entries(error.constraints ?? {}).map(([rule, message]) => ({
    field,
    message: rule === 'whitelistValidation' ? NOT_A_FIELD : withoutName(message, error.property),
  }));
  // One message for each field is enough.
  return [...own.slice(0, 1), ...(error.children ?? []).flatMap((child) => fieldErrors(child, field))];
}

/** class-validator begins its message with the field's name, but the reply shows this name already. */
function withoutName(message: string, name: string): string {
  return message.startsWith(`${name} `) ? message.slice(name.length + 1) : message;
}

// Rules for the values in a request, as decorators. Each decorator describes its rule in words and adds its limits to
// the OpenAPI document.
import { isObject } from '@crossbill/mor/read.js';
import { applyDecorators } from '@nestjs/common';
import { ApiProperty } from '@nestjs/swagger';
import { IsOptional, ValidateBy, ValidateIf } from 'class-validator';
import { isInnerLane } from '../../../shared/domain/events/channel-lane.js';
import { whatIsWrongWithId } from '../../../shared/domain/id-text.js';
import { parseCurrency } from '../../../shared/domain/money.js';
import { isPaymentId } from '../../../shared/domain/payment-name.js';
import { TextIfAny } from './docs.js';

const MAX_TEXT = 255;
// Unsafe characters. No database stores half a surrogate pair as text. Control characters can forge log lines and
// confuse readers.
const CONTROL = /[\p{Cc}\p{Cs}]/u;

export function rule(name: string, wants: string, holds: (value: unknown) => boolean): PropertyDecorator {
  return ValidateBy({ name, validator: { validate: holds, defaultMessage: () => wants } });
}

/** The longest note of a person, in characters. */
export const NOTE_MAX = 1_000;

/** True for a text of 1 to `max` characters in one line. */
export function isPlainText(value: unknown, max = MAX_TEXT): value is string {
  return typeof value === 'string' && value.length >= 1 && value.length <= max && !CONTROL.test(value);
}

/**
 * The field must be an id from Stripe, the MoR or the merchant: any text, kept in full. Refuses an id altered by a
 * spreadsheet, such as 1E+10.
 */
export const IsIdText = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: MAX_TEXT }),
    ValidateBy({
      name: 'isIdText',
      validator: {
        validate: (value: unknown) => typeof value === 'string' && whatIsWrongWithId(value) === null,
        defaultMessage: (args) => {
          const value: unknown = args?.value;
          return (typeof value === 'string' ? whatIsWrongWithId(value) : null) ?? 'must be text of 1 to 255 characters';
        },
      },
    }),
  );

/** The field must be the MoR's id of a payment. */
export const IsPaymentId = (): PropertyDecorator =>
  applyDecorators(
    IsIdText(),
    rule('isPaymentId', "must be the MoR's id of a payment, pay_…", (v) => typeof v === 'string' && isPaymentId(v)),
  );

/** The field must be the id of an invoice on Stripe. */
export const IsInvoiceId = (): PropertyDecorator =>
  rule(
    'isInvoiceId',
    `must be the id of an invoice on Stripe, in_…, of at most ${MAX_TEXT} characters`,
    (v) => isPlainText(v) && !isInnerLane(v),
  );

export const IsText = (max = MAX_TEXT): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ maxLength: max }),
    rule('isText', `must be text of 1 to ${max} characters without control characters`, (v) => isPlainText(v, max)),
  );

/** The field must be an amount in smallest units: an integer from 1 to 2^53 - 1, in plain digits. */
export const IsAmount = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ type: 'integer', minimum: 1 }),
    rule(
      'isAmount',
      "must be an integer of at least 1 in the currency's smallest unit, in plain digits",
      (v) => Number.isSafeInteger(v) && (v as number) >= 1,
    ),
  );

export const IsCurrencyCode = (): PropertyDecorator =>
  rule('isCurrencyCode', 'must be a currency code of three letters (ISO 4217)', (v) => parseCurrency(v) !== null);

export const IsOneOf = (words: readonly string[]): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ enum: [...words] }),
    rule('isOneOf', `Use one of ${words.join(', ')}`, (v) => typeof v === 'string' && words.includes(v)),
  );

/** The field must be a list of short codes, such as `sepa_debit`: letters, digits, `_`, `-` and `.`. */
export const IsWordEach = (): PropertyDecorator =>
  rule(
    'isWordEach',
    'must name only words of letters, digits, "_", "-" and ".", of at most 64 characters',
    (v) => Array.isArray(v) && v.every((word) => typeof word === 'string' && /^[A-Za-z0-9_.-]{1,64}$/.test(word)),
  );

/** The field must be an object. Later code checks its members. */
export const IsObjectValue = (): PropertyDecorator => rule('isObjectValue', 'must be an object', isObject);

export const Matches = (pattern: RegExp, wants: string): PropertyDecorator =>
  rule('matches', wants, (v) => typeof v === 'string' && pattern.test(v));

const MAX_JSON = 16 * 1024;

/** The field may be any JSON object of up to 16 KB. Crossbill passes it on unchanged. */
export const IsJsonObject = (): PropertyDecorator =>
  rule(
    'isJsonObject',
    'must be a JSON object of at most 16 KB',
    (v) => isObject(v) && JSON.stringify(v).length <= MAX_JSON,
  );

/** The field must be an object whose values are texts, such as the lines of an address. */
export const IsTexts = (maxMembers: number): PropertyDecorator =>
  rule(
    'isTexts',
    `must be an object of at most ${maxMembers} texts of 1 to ${MAX_TEXT} characters, such as line1, city, postal_code`,
    (v) =>
      isObject(v) &&
      Object.keys(v).length <= maxMembers &&
      Object.entries(v).every(
        ([key, text]) => /^[a-z][a-z0-9_]{0,39}$/.test(key) && (text === null || isPlainText(text)),
      ),
  );

/** The field may be absent. It may not be null, since null could mean several things. */
export const MayBeAbsent = (): PropertyDecorator =>
  applyDecorators(
    ApiProperty({ required: false }),
    ValidateIf((_object, value) => value !== undefined),
  );

/** The field may be null. In the details of a person null means no value, as in Stripe's customer (`name: null`). */
export const MayBeNull = (): PropertyDecorator =>
  applyDecorators(ApiProperty({ required: false, nullable: true }), IsOptional());

/** Describes a filter of a list. */
export const Filter = (description: string, words?: readonly string[]): PropertyDecorator =>
  applyDecorators(
    TextIfAny(description),
    IsOptional(),
    words === undefined
      ? rule('isFilter', `must be one text of at most ${MAX_TEXT} characters`, (v) => v === '' || isPlainText(v))
      : IsOneOf(words),
  );

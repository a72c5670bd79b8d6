// The kinds of payment method that a setup intent may save (Document 3).
import { applyDecorators } from '@nestjs/common';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray } from 'class-validator';
import { IsOneOfEach, MayBeAbsent } from './rules.js';

/** Document 3, "POST …/setup-intents". */
const PAYMENT_METHOD_TYPES = ['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit'] as const;

export function PaymentMethodTypes(description: string): PropertyDecorator {
  return applyDecorators(
    ApiPropertyOptional({ enum: PAYMENT_METHOD_TYPES, isArray: true, description }),
    MayBeAbsent(),
    IsArray({ message: 'must be a list' }),
    ArrayMinSize(1, { message: 'must name at least one type' }),
    ArrayMaxSize(PAYMENT_METHOD_TYPES.length, { message: `must name at most ${PAYMENT_METHOD_TYPES.length} types` }),
    ArrayUnique({ message: 'must name each type once' }),
    IsOneOfEach(PAYMENT_METHOD_TYPES),
  );
}

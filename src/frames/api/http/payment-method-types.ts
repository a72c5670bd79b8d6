// The kinds of payment methods for a setup intent. The list is open: the MoR decides.
import { applyDecorators } from '@nestjs/common';
import { ArrayMaxSize, ArrayMinSize, ArrayUnique, IsArray } from 'class-validator';
import { ManyIfAny } from './docs.js';
import { IsWordEach, MayBeAbsent } from './rules.js';

/** The types listed in Document 3, "POST …/setup-intents". */
const KNOWN_TYPES = ['card', 'us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit'] as const;
const MOST_TYPES = 20;

export function PaymentMethodTypes(description: string): PropertyDecorator {
  const known = KNOWN_TYPES.map((type) => `\`${type}\``).join(', ');
  return applyDecorators(
    ManyIfAny(String, `${description} Document 3 has ${known}. The MoR accepts or refuses any other.`),
    MayBeAbsent(),
    IsArray({ message: 'must be a list' }),
    ArrayMinSize(1, { message: 'must name at least one type' }),
    ArrayMaxSize(MOST_TYPES, { message: `must name at most ${MOST_TYPES} types` }),
    ArrayUnique({ message: 'must name each type once' }),
    IsWordEach(),
  );
}

// The bodies of requests to make and to complete a signup.
import { taxCalculationRequest } from '@crossbill/mor';
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsISO31661Alpha2 } from 'class-validator';
import {
  IsAmount,
  IsCurrencyCode,
  IsIdText,
  IsPaymentId,
  IsInvoiceId,
  IsJsonObject,
  IsObjectValue,
  IsOneOf,
  IsText,
  IsTexts,
  Matches,
  MayBeAbsent,
  MayBeNull,
} from '../../frames/api/http/rules.js';
import { Amount, Count, Example, MorPartIfAny, Part, Text } from '../../frames/api/http/docs.js';
import { Nested } from '../../frames/api/http/input.pipe.js';
import { PaymentMethodTypes } from '../../frames/api/http/payment-method-types.js';

export const SIGNUP_KINDS = ['payment', 'trial'] as const;
export type SignupKind = (typeof SIGNUP_KINDS)[number];

const MAX_ADDRESS_LINES = 20;

export class SignupCustomerDto {
  @Example('cus_123') @Text("The merchant's own id of the customer.") @IsIdText() id!: string;

  @Example('ada@example.com')
  @Text()
  @MayBeNull()
  @Matches(/^[^\s@\p{Cc}\p{Cs}]{1,64}@[^\s@\p{Cc}\p{Cs}]{1,255}$/u, 'must be an e-mail address')
  email?: string | null;

  @Example('Ada Byron') @Text() @MayBeNull() @IsText() name?: string | null;

  @Example('DE')
  @Text('ISO 3166-1 alpha-2.')
  @MayBeNull()
  @IsISO31661Alpha2({ message: 'must be a country code of two letters (ISO 3166-1 alpha-2)' })
  country?: string | null;

  @ApiPropertyOptional({
    type: 'object',
    nullable: true,
    additionalProperties: { type: 'string', nullable: true },
    description: '`line1`, `city`, `postal_code` and similar.',
  })
  @MayBeNull()
  @IsTexts(MAX_ADDRESS_LINES)
  address?: Record<string, string | null> | null;
}

export class CreateSignupDto {
  @Example('payment')
  @Text('`payment` takes money now, `trial` only saves the payment method.')
  @IsOneOf(SIGNUP_KINDS)
  kind!: SignupKind;

  @Part(SignupCustomerDto)
  @IsDefined({ message: 'is required' })
  @IsObjectValue()
  @Nested(() => SignupCustomerDto)
  customer!: SignupCustomerDto;

  @Example('in_123')
  @Text(
    'The first invoice on Stripe, for `payment` only. Crossbill reads it first: what the shopper pays, with tax, must be what the invoice asks for.',
  )
  @MayBeAbsent()
  @IsInvoiceId()
  invoice_id?: string;

  @Example(2990)
  @Count('Smallest units, with tax. For `payment` only, and there required without `invoice_id`.')
  @MayBeAbsent()
  @IsAmount()
  amount?: number;

  @Example('eur')
  @Text('ISO 4217. For `payment` only, and there required without `invoice_id`.')
  @MayBeAbsent()
  @IsCurrencyCode()
  currency?: string;

  @Example('Pro, monthly')
  @Text('Goes to the MoR with a `payment`; a `trial` has no use for it.')
  @MayBeAbsent()
  @IsText()
  description?: string;

  @PaymentMethodTypes('For `trial` only. Default: card.')
  payment_method_types?: string[];

  @Text('Binds a tax calculation of the MoR to this signup.') @MayBeAbsent() @IsIdText() tax_calculation_id?: string;

  @MorPartIfAny(
    taxCalculationRequest,
    'A tax calculation request of the MoR’s API. Crossbill calculates first and binds the result. A payment’s amount must be its totalAmount.',
  )
  @MayBeAbsent()
  @IsJsonObject()
  tax?: Record<string, unknown>;
}

export class CompleteSignupDto {
  @Example('ch_123') @Text("The charge id of the browser's result.") @IsIdText() charge_id!: string;
  @Example('in_123') @Text('The first invoice: this charge pays it.') @IsInvoiceId() invoice_id!: string;

  @Example('pay_123')
  @Text("The MoR's own id of the payment, if the browser's result has it: then you can refund at once.")
  @MayBeAbsent()
  @IsPaymentId()
  payment_id?: string;

  @Amount('What was charged, in smallest units.') @IsAmount() amount!: number;
  @Example('eur') @Text('ISO 4217.') @IsCurrencyCode() currency!: string;
}

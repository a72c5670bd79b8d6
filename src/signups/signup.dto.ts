// What is taken in to make a signup and to complete one.
import { taxCalculationRequest } from '@crossbill/mor';
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { IsDefined, IsISO31661Alpha2 } from 'class-validator';
import {
  IsAmount,
  IsCurrencyCode,
  IsIdText,
  IsInvoiceId,
  IsJsonObject,
  IsObjectValue,
  IsOneOf,
  IsText,
  IsTexts,
  Matches,
  MayBeAbsent,
  MayBeNull,
} from '../api/http/rules.js';
import { Amount } from '../api/http/docs.js';
import { Nested } from '../api/http/input.pipe.js';
import { PaymentMethodTypes } from '../api/http/payment-method-types.js';

export const SIGNUP_KINDS = ['payment', 'trial'] as const;
export type SignupKind = (typeof SIGNUP_KINDS)[number];

const MAX_ADDRESS_LINES = 20;

export class SignupCustomerDto {
  @ApiProperty({ description: "The merchant's own id of the customer.", example: 'cus_123' })
  @IsIdText()
  id!: string;

  @ApiPropertyOptional({ type: String, nullable: true })
  @MayBeNull()
  @Matches(/^[^\s@\p{Cc}\p{Cs}]{1,64}@[^\s@\p{Cc}\p{Cs}]{1,255}$/u, 'must be an e-mail address')
  email?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, maxLength: 255 })
  @MayBeNull()
  @IsText()
  name?: string | null;

  @ApiPropertyOptional({ type: String, nullable: true, description: 'ISO 3166-1 alpha-2.', example: 'DE' })
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
  @ApiProperty({ enum: SIGNUP_KINDS, description: '`payment` takes money now, `trial` only saves the payment method.' })
  @IsOneOf(SIGNUP_KINDS)
  kind!: SignupKind;

  @ApiProperty({ type: SignupCustomerDto })
  @IsDefined({ message: 'is required' })
  @IsObjectValue()
  @Nested(() => SignupCustomerDto)
  customer!: SignupCustomerDto;

  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Smallest units. For `payment` only, and there required.',
  })
  @MayBeAbsent()
  @IsAmount()
  amount?: number;

  @ApiPropertyOptional({
    type: String,
    description: 'ISO 4217. For `payment` only, and there required.',
    example: 'eur',
  })
  @MayBeAbsent()
  @IsCurrencyCode()
  currency?: string;

  @ApiPropertyOptional({
    type: String,
    maxLength: 255,
    description: 'Goes to the MoR with a `payment`; a `trial` has no use for it.',
  })
  @MayBeAbsent()
  @IsText()
  description?: string;

  @PaymentMethodTypes('For `trial` only. Default: card.')
  payment_method_types?: string[];

  @ApiPropertyOptional({ type: String, description: 'Binds a tax calculation of the MoR to this signup.' })
  @MayBeAbsent()
  @IsIdText()
  tax_calculation_id?: string;

  @ApiPropertyOptional({
    allOf: [taxCalculationRequest.schema],
    description:
      'A tax calculation request of the MoR’s API: it is calculated first and its id is bound; a payment’s amount must be its totalAmount.',
  })
  @MayBeAbsent()
  @IsJsonObject()
  tax?: Record<string, unknown>;
}

export class CompleteSignupDto {
  @ApiProperty({ description: "The charge id of the browser's result." })
  @IsIdText()
  charge_id!: string;

  @ApiProperty({ description: 'The first invoice, which this charge pays.', example: 'in_123' })
  @IsInvoiceId()
  invoice_id!: string;

  @ApiPropertyOptional({
    type: String,
    description: "The MoR's own id of the payment, where the browser's result names it: it can be refunded then.",
    example: 'pay_123',
  })
  @MayBeAbsent()
  @IsIdText()
  payment_id?: string;

  @Amount('What was charged, in smallest units.')
  @IsAmount()
  amount!: number;

  @ApiProperty({ description: 'ISO 4217.', example: 'eur' })
  @IsCurrencyCode()
  currency!: string;
}

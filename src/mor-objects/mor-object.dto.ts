// What is taken in to make a proforma invoice or a payment link.
import { ApiProperty, ApiPropertyOptional } from '@nestjs/swagger';
import { isDay } from '@crossbill/mor/shape.js';
import { IsArray, ValidateBy } from 'class-validator';
import { providerPart, recipientPart } from '../api/http/mor-shapes.js';
import { IsJsonObject, IsText, Matches, MayBeAbsent } from '../api/http/rules.js';

const IsCountry = (): PropertyDecorator =>
  Matches(/^[A-Z]{2}$/, 'must be a country code of two capital letters (ISO 3166-1 alpha-2)');

const IsDate = (): PropertyDecorator =>
  ValidateBy({
    name: 'isDate',
    validator: {
      validate: (v: unknown) => typeof v === 'string' && isDay(v),
      defaultMessage: () => 'must be a day as YYYY-MM-DD',
    },
  });

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

export class CreateProformaDto {
  @ApiProperty({ description: 'ISO 3166-1 alpha-2: whose tax law and currency it is issued under.', example: 'GB' })
  @IsCountry()
  jurisdiction!: string;

  @ApiProperty({ description: 'YYYY-MM-DD, not before the issue date.' })
  @IsDate()
  due_date!: string;

  @ApiPropertyOptional({ description: 'YYYY-MM-DD. Default: today (UTC).' })
  @MayBeAbsent()
  @IsDate()
  issue_date?: string;

  @ApiPropertyOptional({
    allOf: [providerPart.schema],
    description: 'As in the MoR’s API. Default: the Stripe account of the invoice.',
  })
  @MayBeAbsent()
  @IsJsonObject()
  provider?: Record<string, unknown>;

  @ApiPropertyOptional({
    allOf: [recipientPart.schema],
    description: 'As in the MoR’s API. What is left out comes from Stripe, as far as it is known there.',
  })
  @MayBeAbsent()
  @IsJsonObject()
  recipient?: Record<string, unknown>;

  @ApiPropertyOptional({
    type: String,
    description: 'A calculation of the MoR: total, lines and recipient then come from it.',
  })
  @MayBeAbsent()
  @Matches(UUID, 'must be a uuid')
  tax_calculation_id?: string;

  @ApiPropertyOptional({ type: [String], description: 'Texts to print on it.' })
  @MayBeAbsent()
  @IsArray({ message: 'must be a list of texts' })
  notices?: unknown[];
}

const MAX_EXPIRY_SEC = 31_536_000;

export class CreatePaymentLinkDto {
  @ApiProperty({ description: 'ISO 3166-1 alpha-2.', example: 'GB' })
  @IsCountry()
  jurisdiction!: string;

  @ApiProperty({ description: 'Where the customer goes after paying. No proof of payment.' })
  @IsText(2_048)
  return_url!: string;

  @ApiPropertyOptional({ type: 'integer', minimum: 1, description: 'Seconds; default 604800 (a week).' })
  @MayBeAbsent()
  @ValidateBy({
    name: 'isSeconds',
    validator: {
      validate: (v: unknown) => Number.isSafeInteger(v) && Number(v) >= 1 && Number(v) <= MAX_EXPIRY_SEC,
      defaultMessage: () => `must be whole seconds from 1 to ${MAX_EXPIRY_SEC}`,
    },
  })
  expires_in?: number;
}

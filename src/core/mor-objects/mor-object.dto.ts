// The bodies of requests for a proforma invoice or a payment link.
import { ApiProperty } from '@nestjs/swagger';
import { isDay } from '@crossbill/mor/shape.js';
import { IsArray, ValidateBy } from 'class-validator';
import { Count, Example, Many, MorPartIfAny, Text } from '../../frames/api/http/docs.js';
import { providerPart, recipientPart } from '../../frames/api/http/mor-shapes.js';
import { IsJsonObject, IsText, Matches, MayBeAbsent } from '../../frames/api/http/rules.js';

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
  @Example('GB')
  @Text('ISO 3166-1 alpha-2. The country sets the tax law and the currency.')
  @IsCountry()
  jurisdiction!: string;

  @Example('2026-12-22') @Text('YYYY-MM-DD, not before the issue date.') @IsDate() due_date!: string;
  @Text('YYYY-MM-DD. Default: today (UTC).') @MayBeAbsent() @IsDate() issue_date?: string;

  @MorPartIfAny(providerPart, 'As in the MoR’s API. Default: the Stripe account of the invoice.')
  @MayBeAbsent()
  @IsJsonObject()
  provider?: Record<string, unknown>;

  @MorPartIfAny(recipientPart, 'As in the MoR’s API. Crossbill fills omitted parts from Stripe.')
  @MayBeAbsent()
  @IsJsonObject()
  recipient?: Record<string, unknown>;

  @Text('A calculation of the MoR: total, lines and recipient then come from it.')
  @MayBeAbsent()
  @Matches(UUID, 'must be a uuid')
  tax_calculation_id?: string;

  @Many(String, 'Texts to print on the proforma invoice.')
  @MayBeAbsent()
  @IsArray({ message: 'must be a list of texts' })
  notices?: unknown[];
}

const MAX_EXPIRY_SEC = 31_536_000;

export class CreatePaymentLinkDto {
  @Example('GB') @Text('ISO 3166-1 alpha-2.') @IsCountry() jurisdiction!: string;

  @Example('https://shop.example/thanks')
  @Text('Where the customer goes after paying. A visit there proves no payment.')
  @IsText(2_048)
  return_url!: string;

  @ApiProperty({ minimum: 1, maximum: MAX_EXPIRY_SEC })
  @Count('Seconds; default 604800 (a week).')
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

// What is taken in to make a refund. Document 3: all of it is optional.
import { ApiPropertyOptional } from '@nestjs/swagger';
import { IsAmount, IsJsonObject, IsText, MayBeAbsent } from '../api/http/rules.js';

export class CreateRefundDto {
  @ApiPropertyOptional({
    type: 'integer',
    minimum: 1,
    description: 'Smallest units; default: all that remains of the payment.',
  })
  @MayBeAbsent()
  @IsAmount()
  amount?: number;

  @ApiPropertyOptional({
    type: String,
    maxLength: 255,
    description: '`requested_by_customer`, `duplicate`, `fraudulent`, or a text of your own.',
  })
  @MayBeAbsent()
  @IsText()
  reason?: string;

  @ApiPropertyOptional({
    type: 'object',
    additionalProperties: true,
    description: 'Passed on to the MoR; at most 16 KB.',
  })
  @MayBeAbsent()
  @IsJsonObject()
  metadata?: Record<string, unknown>;
}

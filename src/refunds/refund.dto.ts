// The body of a refund request. As in Document 3, every field is optional.
import { Count, Example, Open, Text } from '../api/http/docs.js';
import { IsAmount, IsJsonObject, IsText, MayBeAbsent } from '../api/http/rules.js';

export class CreateRefundDto {
  @Example(500)
  @Count('Smallest units; default: the rest of the payment.')
  @MayBeAbsent()
  @IsAmount()
  amount?: number;

  @Example('requested_by_customer')
  @Text('`requested_by_customer`, `duplicate`, `fraudulent`, or a text of your own.')
  @MayBeAbsent()
  @IsText()
  reason?: string;

  @Open('Passed on to the MoR; at most 16 KB.') @MayBeAbsent() @IsJsonObject() metadata?: Record<string, unknown>;
}

// The body of a refund request. As in Document 3, every field is optional.
import { Count, Example, Flag, Open, Text } from '../../frames/api/http/docs.js';
import { IsAmount, IsJsonObject, IsText, MayBeAbsent, rule } from '../../frames/api/http/rules.js';

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

  @Flag('True: refund although a dispute of the payment is undecided. The customer may get the money twice.')
  @MayBeAbsent()
  @rule('isBoolean', 'must be true or false', (value) => typeof value === 'boolean')
  despite_dispute?: boolean;

  @Open('Passed on to the MoR; at most 16 KB.') @MayBeAbsent() @IsJsonObject() metadata?: Record<string, unknown>;
}

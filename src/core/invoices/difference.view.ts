// A difference from verify, as the API shows it.
import { Example, PartIfAny, Text, TextIfAny, Time, Word } from '../../frames/api/http/docs.js';
import { timeOf } from '../../frames/api/http/values.js';
import { type Difference, differenceKinds } from '../../shared/domain/difference.js';

class AcknowledgedView {
  @Text() note!: string;
  @Text("An API key's name, or who used the command line.") by!: string;
  @Time() at!: string;
}

export class DifferenceView {
  @Example('id_123') @Text('The same in each run while kind, subject and facts are the same.') id!: string;
  @Word(differenceKinds) kind!: string;
  @TextIfAny() invoice_id?: string | undefined;
  @TextIfAny() payment_id?: string | undefined;
  @TextIfAny() refund_id?: string | undefined;
  @TextIfAny() event_id?: string | undefined;
  @TextIfAny('Its credit note, payment record or balance entry on Stripe, or its charge at the MoR.')
  object_id?: string | undefined;
  @Example('The invoice is open on Stripe.') @Text('What differs, in words.') detail!: string;
  @Word(['look-again', 'take-in-event', 'person']) repair!: string;
  @TextIfAny('Its open review item.') review_id?: string | undefined;
  @PartIfAny(AcknowledgedView, 'Left out when nobody has acknowledged it.')
  acknowledged?: AcknowledgedView | undefined;
}

export function differenceView(difference: Difference): DifferenceView {
  const { acknowledged } = difference;
  return {
    id: difference.id,
    kind: difference.kind,
    invoice_id: difference.invoiceId ?? undefined,
    payment_id: difference.paymentId ?? undefined,
    refund_id: difference.refundId ?? undefined,
    event_id: difference.eventId ?? undefined,
    object_id: difference.objectId ?? undefined,
    detail: difference.detail,
    repair: difference.repair,
    review_id: difference.reviewId ?? undefined,
    acknowledged: acknowledged ? { ...acknowledged, at: timeOf(acknowledged.at) } : undefined,
  };
}

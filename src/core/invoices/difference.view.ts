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

export function differenceView(d: Difference): DifferenceView {
  const { acknowledged } = d;
  return {
    id: d.id,
    kind: d.kind,
    invoice_id: d.invoiceId ?? undefined,
    payment_id: d.paymentId ?? undefined,
    refund_id: d.refundId ?? undefined,
    event_id: d.eventId ?? undefined,
    object_id: d.objectId ?? undefined,
    detail: d.detail,
    repair: d.repair,
    review_id: d.reviewId ?? undefined,
    acknowledged: acknowledged ? { ...acknowledged, at: timeOf(acknowledged.at) } : undefined,
  };
}

// Records the money on an object at the MoR as the only payment of the object.
import { type Lane } from '../../../engine/lane.js';
import { type Mutable } from '../../../shared/domain/row.js';
import { type MorObjectRow, announcedOn, isSameMoney } from '../../../shared/domain/mor-object.js';
import { type Money, showMoney } from '../../../shared/domain/money.js';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { newPayment } from '../../books/rules/payment-rows.js';
import { collect } from '../../books/rules/collect.js';
import { type LaneRows } from '../../../shared/domain/model.js';
import { bookedAs } from '../../books/rules/same-payment.js';
import { ownIdOf } from '../../../shared/domain/payment-name.js';

/** How the MoR reported a payment. `parked`: a person decides first. */
type How = { readonly at: Date; readonly eventId: string | null; readonly parked: boolean };

/**
 * Records the money on an object as a payment. An object has only one payment. Returns `payment` null if Crossbill has
 * already recorded the payment.
 */
export function applyMoney(
  lane: Lane,
  object: Mutable<MorObjectRow>,
  received: Money,
  { at, eventId, parked }: How,
): { readonly payment: PaymentRow | null; readonly said: string } {
  const origin = object.kind === 'proforma' ? 'proforma' : 'payment_link';
  // The payment's own payment.* event may have arrived first. One charge is one payment, in either order.
  const known = lane.payments.find((p) => p.origin === origin && p.reference === object.morId) ?? takenOn(lane, object);
  if (known !== undefined) {
    object.paymentRowId = known.id;
    if (known.amount === received.minor && known.currency === received.currency)
      return { payment: null, said: 'this payment is already recorded' };
    const recorded = known.amount === null ? null : { minor: known.amount, currency: known.currency };
    lane.openReview({
      kind: 'conflicting_event',
      subject: eventId ?? `${object.id}:amount`,
      paymentRowId: known.id,
      fact: { code: 'announced-otherwise', object: object.morId ?? object.id, announced: received, recorded },
    });
    return { payment: null, said: 'differs from the record: not applied' };
  }
  const [first = { charge: null, paymentId: null }] = announcedOn(object);
  const before = refundedBefore(lane, first);
  const row = newPayment(lane.ctx, {
    ...before,
    status: 'succeeded',
    invoiceId: lane.lane,
    customerId: lane.invoice?.customerId ?? '', // nameCustomers adds the customer later
    currency: received.currency,
    amount: received.minor,
    origin,
    reference: object.morId,
    succeededAt: at,
    processorChargeId: first.charge ?? before?.processorChargeId ?? null,
    mark: parked ? 'parked' : 'waiting',
  });
  const payment = before === undefined ? lane.add('payments', row) : Object.assign(before, row);
  collect(lane, payment, eventId);
  object.paymentRowId = payment.id;
  const what = origin === 'proforma' ? 'by bank transfer for proforma invoice' : 'on payment link';
  return { payment, said: `${showMoney(received)} came ${what} ${object.number ?? object.morId ?? ''}` };
}

/** Finds the booked payment with the charge or id of this link's first payment. */
export function takenOn(lane: LaneRows, object: MorObjectRow): PaymentRow | undefined {
  const [first] = announcedOn(object);
  return first === undefined ? undefined : bookedAs(lane, first);
}

/** Finds the payment row for a refund that arrived before its payment. */
function refundedBefore(
  { payments, refunds }: Lane,
  names: { readonly charge: string | null; readonly paymentId: string | null },
): Mutable<PaymentRow> | undefined {
  return payments.find(
    (p) =>
      isSameMoney({ charge: p.processorChargeId, paymentId: ownIdOf(p) }, names) &&
      p.mark === 'none' &&
      refunds.some((r) => r.paymentRowId === p.id),
  );
}

/** Gives a payment without a customer the invoice's customer: no event of Document 2 names a customer. */
export function nameCustomers(lane: Lane): void {
  const customerId = lane.invoice?.customerId ?? null;
  if (customerId === null) return;
  for (const p of lane.payments) if (p.customerId === '') p.customerId = customerId;
}

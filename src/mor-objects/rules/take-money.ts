// Money that a proforma invoice or a payment link brought: one payment, recorded once for good.
import { type LaneState, type PaymentOrigin, type PaymentRow } from '../../domain/model.js';
import { announcedOn, isSameMoney, type MorObjectRow } from '../../domain/mor-object.js';
import { type Money, showMoney } from '../../domain/money.js';
import { type Ctx, openReview, putObject, putPayment } from '../../engine/change.js';
import { newPayment, saysNothing } from '../../engine/payment.js';
import { ownIdOf } from '../../domain/payment-name.js';
import { takenOn } from './mor-object.js';
import { collect } from '../../ledger/rules/one-charge.js';

/**
 * Records the money that an object brought as a payment, once for good: by the object's id. `parked`: a person decides first.
 * `payment` null: it was recorded before.
 */
export function takeMoney(
  s: LaneState,
  o: MorObjectRow,
  received: Money,
  how: { readonly at: Date; readonly eventId: string | null; readonly parked: boolean },
  ctx: Ctx,
): { readonly state: LaneState; readonly payment: PaymentRow | null; readonly said: string } {
  const origin: PaymentOrigin = o.kind === 'proforma' ? 'proforma' : 'payment_link';
  const [first = { charge: null, paymentId: null }] = announcedOn(o);
  // Its own payment.* event, where the MoR sends one, may have come first: one charge is one payment in either order.
  const known = s.payments.find((p) => p.origin === origin && p.reference === o.morId) ?? takenOn(s, o);
  if (known !== undefined) {
    const state = putObject(s, { ...o, paymentRowId: known.id });
    if (known.amount === received.minor && known.currency === received.currency)
      return { state, payment: null, said: 'this payment is already recorded' };
    const recorded = known.amount === null ? null : { minor: known.amount, currency: known.currency };
    const reviewed = openReview(state, ctx, {
      kind: 'conflicting_event',
      subject: how.eventId ?? o.id,
      paymentRowId: known.id,
      fact: { code: 'announced-otherwise', object: o.morId ?? o.id, announced: received, recorded },
    });
    return { state: reviewed, payment: null, said: 'differs from the record: not applied' };
  }
  const before = refundedBefore(s, first);
  const payment = newPayment(ctx, {
    ...before,
    status: 'succeeded',
    invoiceId: s.lane,
    customerId: s.invoice?.customerId ?? '', // nameCustomers names the invoice's own customer once it is known
    currency: received.currency,
    amount: received.minor,
    origin,
    reference: o.morId,
    succeededAt: how.at,
    processorChargeId: first.charge ?? before?.processorChargeId ?? null,
    mark: how.parked ? 'parked' : 'waiting',
  });
  const booked = collect(putPayment(s, payment), payment, received.minor, ctx, how.eventId);
  const what = origin === 'proforma' ? 'by bank transfer for proforma invoice' : 'on payment link';
  return {
    state: putObject(booked, { ...o, paymentRowId: payment.id }),
    payment,
    said: `${showMoney(received)} came ${what} ${o.number ?? o.morId ?? ''}`,
  };
}

/** The payment row that a refund opened because it arrived before its payment (refunds/rules/refund-event.ts). */
function refundedBefore(
  s: LaneState,
  names: { readonly charge: string | null; readonly paymentId: string | null },
): PaymentRow | undefined {
  const isOfRefund = (p: PaymentRow): boolean => s.refunds.some((r) => r.paymentRowId === p.id);
  return s.payments.find(
    (p) =>
      isSameMoney({ charge: p.processorChargeId, paymentId: ownIdOf(p) }, names) &&
      p.mark === 'none' &&
      !saysNothing(p) &&
      isOfRefund(p),
  );
}

/** Money that came for the invoice itself is its customer's: no event of Document 2 names one. */
export function nameCustomers(s: LaneState): LaneState {
  const customerId = s.invoice?.customerId ?? null;
  if (customerId === null) return s;
  let state = s;
  for (const p of s.payments) if (p.customerId === '') state = putPayment(state, { ...p, customerId });
  return state;
}

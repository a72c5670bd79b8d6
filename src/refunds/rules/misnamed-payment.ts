// A person named a payment by the id of somebody else's: money that goes back under that name is not this payment's.
import { type Ctx, openReview } from '../../domain/lane/change.js';
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { showMoney } from '../../domain/money.js';

/** What the MoR says of a payment by its id. */
type Said = {
  readonly eventId: string;
  readonly paymentId: string;
  readonly processorChargeId: string | null;
  readonly customerId: string;
  readonly amount: bigint;
  readonly currency: string;
};

export const MISNAMED = 'that id is of another payment than the one that a person named so: not applied';

/** The payment that a person called by this id, although its charge is another. */
export function misnamed(s: LaneState, e: Said): PaymentRow | undefined {
  const { processorChargeId: charge } = e;
  return s.payments.find(
    (p) =>
      p.paymentId === e.paymentId &&
      p.identifiedBy !== null &&
      p.processorChargeId !== null &&
      charge !== null &&
      p.processorChargeId !== charge,
  );
}

/** A refund that was asked for under this name went to the other payment's customer: only people can put that right. */
export function tellMisnamed(s: LaneState, e: Said, p: PaymentRow, ctx: Ctx): LaneState {
  const what = showMoney({ minor: e.amount, currency: e.currency });
  return openReview(s, ctx, {
    kind: 'conflicting_event',
    subject: e.eventId,
    paymentRowId: p.id,
    summary: `${p.identifiedBy ?? ''} named this payment of charge ${p.processorChargeId ?? ''} ${e.paymentId}; the MoR says that ${e.paymentId} is charge ${e.processorChargeId ?? ''} of customer ${e.customerId}, of which ${what} was given back`,
    proposal: `Find out at the MoR which customer got the money. What was given back under ${e.paymentId} is not money of this payment.`,
  });
}

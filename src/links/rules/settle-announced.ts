// Several announcements on payment links. The first payment on a link counts; a person looks into each further one, by one item an invoice.
import { type LaneState, type PaymentRow } from '../../domain/model.js';
import { announcedOn, isSameMoney, type MorObjectRow, type Observation } from '../../domain/mor-object.js';
import { closeReviews, type Ctx, openReview, openReviewOf, putPayment, restateReview } from '../../engine/change.js';
import { type SettleRule } from '../../engine/subject.js';
import { bookedAs, saysNothing } from '../../engine/payment.js';
import { effectName, ownIdOf } from '../../domain/payment-name.js';
import { moveMark } from '../../engine/moves.js';
import { collect } from '../../ledger/rules/one-charge.js';
import { furtherIn, furtherSubject, isOther } from '../../mor-objects/rules/announced.js';
import { observationsOf, isLookedInto } from '../../engine/open-money.js';

/** Nothing is charged while this item is open (mor-objects/rules/withdraw.ts). A person's answer holds until another payment is announced. */
export const settleAnnounced: SettleRule = (s, ctx) => {
  const subject = furtherSubject(s.lane);
  const further = furtherIn(s);
  if (further.length === 0)
    return closeReviews(s, ctx, (r) => r.kind === 'conflicting_event' && r.subject === subject, {
      by: null,
      resolution: 'cleared',
      note: 'each announced payment is in the books or was given back',
    });
  const fact = {
    code: 'further-announced',
    further: further.map(({ paymentId: payment, charge }) => ({ payment, charge })),
    observations: observationsOf(s),
  } as const;
  const open = openReviewOf(s, 'conflicting_event', subject);
  if (open !== undefined) return restateReview(s, ctx, open, { kind: 'conflicting_event', fact });
  const since = new Date(Math.max(...further.map((x) => Date.parse(x.heardAt))));
  if (isLookedInto(s.reviews, [subject], since)) return s;
  return openReview(s, ctx, { kind: 'conflicting_event', subject, since, fact });
};

/**
 * A refund of a further payment proves that the MoR took that payment: it is booked, and waits for a person until all of it is given back. Without
 * its amount it is only announced.
 */
export const bookRefunded: SettleRule = (s, ctx) => furtherIn(s).reduce((state, x) => bookOne(state, x, ctx), s);

function bookOne(s: LaneState, x: Observation, ctx: Ctx): LaneState {
  const given = (p: PaymentRow): bigint =>
    s.refunds.reduce((n, r) => (r.paymentRowId === p.id && r.status === 'succeeded' ? n + r.amount : n), 0n);
  const p = s.payments.find(
    (row) =>
      row.mark === 'none' &&
      !saysNothing(row) &&
      given(row) > 0n &&
      isSameMoney({ charge: row.processorChargeId, paymentId: ownIdOf(row) }, x),
  );
  // Document 3: `refunded` comes once the refunds are equal to the payment.
  const whole = p?.status === 'refunded' ? (p.refundedTotal ?? given(p)) : null;
  const amount = whole ?? (x.amount === null || x.currency !== p?.currency ? null : BigInt(x.amount));
  if (p === undefined || amount === null || bookedAs(s, x) !== undefined) return s;
  const row: PaymentRow = {
    ...moveMark(moveMark(p, 'waiting'), 'parked'),
    status: 'succeeded',
    amount,
    succeededAt: new Date(x.at),
  };
  const booked = collect(putPayment(s, row), row, amount, ctx, null);
  if (given(p) >= amount) return booked; // it is closed once its refunds count (payments/rules/mark.ts)
  return openReview(booked, ctx, {
    kind: 'double_payment',
    subject: p.id,
    paymentRowId: p.id,
    fact: {
      code: 'further-on-link',
      payment: effectName(p),
      taken: { minor: amount, currency: p.currency },
      observations: observationsOf(s),
    },
  });
}

/** The link's payment has the names of the first payment on it. By who works the lane alone: only they can look for the id on other invoices. */
export function nameFirst(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  const p = s.payments.find((x) => x.id === o.paymentRowId && x.origin === 'payment_link');
  const [first] = announcedOn(o);
  if (p === undefined || first === undefined || isOther(s, o, first)) return s;
  const { paymentId } = first;
  const isFree =
    paymentId !== null &&
    ctx.beside !== true &&
    ownIdOf(p) === null &&
    ctx.paymentsElsewhere?.has(paymentId) !== true &&
    !s.payments.some((x) => x.id !== p.id && x.paymentId === paymentId);
  const row: PaymentRow = { ...p, processorChargeId: p.processorChargeId ?? first.charge };
  return putPayment(s, isFree ? { ...row, paymentId, identifiedBy: null } : row);
}

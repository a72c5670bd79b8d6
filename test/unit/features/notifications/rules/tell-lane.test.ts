// What the merchant's backend hears of a step of an invoice: each change once, with its facts.
import { describe, expect, it } from '@jest/globals';
import { newRefund } from '../../../../../src/core/refunds/rules/refund.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { type NotificationType } from '../../../../../src/shared/domain/notification.js';
import { putDownStep } from '../../../../../src/features/notifications/rules/all.js';
import { type NamedReview } from '../../../../../src/core/books/rules/notice-facts.js';
import { reviewDueSoon, reviewOpened } from '../../../../../src/features/notifications/rules/tell-lane.js';
import { tellStep, notified, invoiceIs, open, afterVerdict, NEXT_TRY } from '../../../../support/builders/tell-step.js';
import { aCtx, NOW } from '../../../../support/builders/channel-lane.js';
import { paid, paidTwice } from '../../../../support/builders/disputed-lane.js';
import { openReview } from '../../../../support/rigs/decide.js';
import { STANDARD } from '../../../../support/builders/notify-as.js';
import { FACTS, aKind } from '../../../../support/builders/item-facts.js';
import { never } from '../../../../support/never.js';

/** What is said of the invoice `in_1` of 29.90 EUR in each of them. */
const facts = (status: string) => ({
  ...{ invoice_id: 'in_1', customer_id: 'cus_1', subscription_id: 'sub_1', status },
  ...{ amount_due: 2990, currency: 'eur', console: '/console/invoices/in_1' },
});
const everyStatus = ['expected', 'open', 'held', 'marking', 'paid', 'ignored', 'void', 'review'] as const;
/** The statuses of the invoice in which it is told. */
const notifiedWhile = (type: NotificationType, before: LaneState, after: LaneState): string[] =>
  everyStatus.filter((status) => notified(type, before, invoiceIs(after, { status })).length > 0);

it('an invoice.paid notification lists the payments marked on the invoice', () => {
  expect(tellStep(open, paid())).toEqual([
    {
      type: 'invoice.paid',
      subject: 'in_1',
      data: {
        ...facts('paid'),
        amount_left: 2990,
        payments: [{ payment_id: 'pay_1', processor_charge_id: 'ch_1', amount: 2990, currency: 'eur' }],
      },
    },
  ]);
  const names = (after: LaneState): string[] =>
    notified('invoice.paid', open, after).flatMap((t) =>
      t.type === 'invoice.paid' ? t.data.payments.map((p) => `${p.payment_id}: ${p.amount}`) : [],
    );
  expect(names(paidTwice())).toEqual(['pay_1: 2990', 'pay_2: 2990']);
  expect(names(paidTwice({ mark: 'parked' }))).toEqual(['pay_1: 2990']);
  expect(names(paidTwice({ amount: null }))).toEqual(['pay_1: 2990']);
  expect(names(paid({ paymentId: null }))).toEqual(['pmt_1: 2990']);
});

it('an invoice.paid notification goes out once, and only for a paid invoice above zero', () => {
  expect(tellStep(paid(), paid())).toEqual([]);
  expect(notifiedWhile('invoice.paid', open, paid())).toEqual(['paid']);
  expect(notified('invoice.paid', { ...open, invoice: null }, paid())).toHaveLength(1);
  expect(notified('invoice.paid', open, invoiceIs(paid(), { amountDue: 0n }))).toEqual([]);
  expect(notified('invoice.paid', open, { ...paid(), invoice: null })).toEqual([]);
  const unknown = invoiceIs(paid(), { amountDue: null, currency: null, customerId: null, subscriptionId: null });
  expect(notified('invoice.paid', open, unknown)).toMatchObject([
    { data: { amount_due: null, currency: null, customer_id: 'cus_1', subscription_id: null } },
  ]);
});

it('a decline sends invoice.left_open with its code and the time of the next retry, and no free text', () => {
  expect(tellStep(open, invoiceIs(afterVerdict(), { nextTryAt: NEXT_TRY }))).toEqual([
    {
      type: 'invoice.left_open',
      subject: 'in_1:attempt:evt_9',
      data: {
        ...facts('open'),
        ...{ why: 'payment_failed', payment_id: 'pay_9', decline_code: 'expired_card', review_id: null },
        next_try_at: '2026-11-23T12:00:00.000Z',
      },
    },
  ]);
  expect(tellStep(open, afterVerdict({ declineCode: null }))).toMatchObject([
    { data: { decline_code: null, next_try_at: null } },
  ]);
});

it('a required authentication sends invoice.action_required with the payment intent', () => {
  expect(tellStep(open, afterVerdict({ outcome: 'requires_action' }))).toEqual([
    {
      type: 'invoice.action_required',
      subject: 'in_1:attempt:evt_9',
      data: { ...facts('open'), payment_id: 'pay_9', processor_payment_intent_id: 'pi_9' },
    },
  ]);
});

it('a decline sends a notification only while the invoice is expected, open or in review', () => {
  expect(notifiedWhile('invoice.left_open', open, afterVerdict())).toEqual(['expected', 'open', 'review']);
  const action = afterVerdict({ outcome: 'requires_action' });
  expect(notifiedWhile('invoice.action_required', open, action)).toEqual(['expected', 'open', 'review']);
  expect(tellStep(open, { ...afterVerdict(), invoice: null })).toEqual([]);
});

it('a success, or a decline of an already successful payment, sends no invoice.left_open', () => {
  expect(tellStep(open, afterVerdict({ outcome: 'succeeded' }))).toEqual([]);
  const taken = paid().payments.map((p) => ({ ...p, paymentId: 'pay_9' }));
  expect(tellStep(open, afterVerdict({}, { ...open, payments: taken }))).toEqual([]);
  const refused = taken.map((p) => ({ ...p, succeededAt: null }));
  expect(tellStep(open, afterVerdict({}, { ...open, payments: refused }))).toHaveLength(1);
  expect(tellStep(open, afterVerdict({}, { ...open, payments: paid().payments }))).toHaveLength(1);
});

const asked = (kind: ReviewRow['kind'], state = open, paymentRowId: string | null = null): LaneState =>
  openReview(state, aCtx(), { ...aKind(kind), subject: 's', paymentRowId });
const waiting = (over: object = {}): LaneState => ({
  ...open,
  payments: paid().payments.map((p) => ({ ...p, mark: 'parked' as const, ...over })),
});

it('the invoice.left_open notification of a renewal_overdue item names the item, and no payment', () => {
  const after = invoiceIs(asked('renewal_overdue'), { nextTryAt: NEXT_TRY });
  const reviewId = after.reviews[0]?.id ?? '';
  expect(notified('invoice.left_open', open, after)).toEqual([
    {
      type: 'invoice.left_open',
      subject: `in_1:review:${reviewId}`,
      data: {
        ...facts('open'),
        ...{ why: 'no_verdict', payment_id: null, decline_code: null, review_id: reviewId },
        next_try_at: '2026-11-23T12:00:00.000Z',
      },
    },
  ]);
});

it("a review item about a parked payment sends invoice.left_open with the payment's id", () => {
  const left = (state: LaneState): object[] => notified('invoice.left_open', open, state).map((t) => t.data);
  expect(left(asked('amount_mismatch', waiting(), 'pmt_1'))).toMatchObject([
    { why: 'review', payment_id: 'pay_1', decline_code: null, next_try_at: null },
  ]);
  expect(left(asked('amount_mismatch', waiting({ paymentId: null }), 'pmt_1'))).toMatchObject([
    { payment_id: 'pmt_1' },
  ]);
  expect(left(asked('amount_mismatch', waiting({ mark: 'waiting' }), 'pmt_1'))).toEqual([]);
  expect(left(asked('amount_mismatch', waiting(), 'pmt_9'))).toEqual([]);
  expect(left(asked('effect_failed'))).toEqual([]);
});

it('an open renewal_overdue item of an unpaid invoice sends one invoice.left_open notification', () => {
  const after = asked('renewal_overdue');
  expect(notified('invoice.left_open', after, after)).toEqual([]);
  expect(notifiedWhile('invoice.left_open', open, after)).toEqual(['expected', 'open', 'review']);
  expect(notified('invoice.left_open', open, { ...after, invoice: null })).toEqual([]);
  const resolved = { ...after, reviews: after.reviews.map((r) => ({ ...r, status: 'resolved' as const })) };
  expect(tellStep(open, resolved)).toEqual([]);
  expect(tellStep(resolved, after).map((t) => t.type)).toEqual(['invoice.left_open', 'review.opened']);
  const other = asked('effect_failed', open);
  expect(notified('invoice.left_open', other, asked('renewal_overdue', other))).toHaveLength(1);
});

const item = (over: Partial<ReviewRow> = {}): ReviewRow => {
  const s = openReview(open, aCtx(), { kind: 'dispute', subject: 'dp_1', fact: FACTS.dispute });
  const [r = never()] = s.reviews;
  return { ...r, id: 'rev 1', ...over };
};
const named = (over: Partial<ReviewRow> = {}): NamedReview => ({
  ...item(over),
  customerId: 'cus_1',
  subscriptionId: 'sub_1',
});
const data = {
  ...{ review_id: 'rev 1', kind: 'dispute', invoice_id: 'in_1', refund_id: null },
  ...{ customer_id: 'cus_1', subscription_id: 'sub_1' },
  ...{ due_at: null, console: '/console/reviews/rev%201' },
};

it('a new review item sends one review.opened notification, with its facts and without its sentences', () => {
  const after: LaneState = { ...open, reviews: [item()] };
  expect(tellStep(open, after)).toEqual([{ type: 'review.opened', subject: 'rev 1', data }]);
  expect(tellStep(after, after)).toEqual([]);
  const beside: LaneState = { ...open, reviews: [item(), item({ id: 'rev_2' })] };
  expect(tellStep(after, beside).map((t) => t.subject)).toEqual(['rev_2']);
});

it('a review item that opens and closes in one step sends no notification', () => {
  const moot = item({ status: 'resolved', resolution: 'cleared' });
  expect(tellStep(open, { ...open, reviews: [moot] })).toEqual([]);
});

it('each deadline of a review item has its own review.due_soon notification', () => {
  const due = reviewDueSoon(named({ dueAt: NOW, refundId: 'ref_1', invoiceId: null }));
  expect(due).toEqual({
    ...{ type: 'review.due_soon', subject: 'rev 1:2026-11-20T12:00:00.000Z' },
    data: { ...data, refund_id: 'ref_1', invoice_id: null, due_at: '2026-11-20T12:00:00.000Z' },
  });
  expect(reviewDueSoon(named({ dueAt: NEXT_TRY })).subject).not.toBe(due.subject);
  expect(reviewDueSoon(named())).toMatchObject({ subject: 'rev 1:', data: { due_at: null } });
  expect(reviewOpened(named({ dueAt: NOW }))).toMatchObject({
    ...{ type: 'review.opened', subject: 'rev 1', data: { due_at: '2026-11-20T12:00:00.000Z' } },
  });
});

describe('a refund', () => {
  const refund = (over: Partial<RefundRow> = {}, state = paid()): LaneState => {
    const [p = never()] = state.payments;
    const row = {
      ...newRefund(aCtx(), p, { amount: 500n, reason: null, origin: 'api' }),
      id: 'ref/1',
      status: 'succeeded',
    } as const;
    return { ...state, refunds: [{ ...row, morRefundId: 'rfnd_1', processorRefundId: 're_1', ...over }] };
  };
  const data = {
    ...{ refund_id: 'ref/1', mor_refund_id: 'rfnd_1', processor_refund_id: 're_1', payment_id: 'pay_1' },
    ...{ customer_id: 'cus_1', subscription_id: 'sub_1', amount_left: 2990 },
    ...{ invoice_id: 'in_1', amount: 500, currency: 'eur', made_elsewhere: false, console: '/console/refunds/ref%2F1' },
  };

  it('a refund.succeeded notification carries the amount and says whether the refund was made elsewhere', () => {
    expect(tellStep(paid(), refund())).toEqual([{ type: 'refund.succeeded', subject: 'rfnd_1:succeeded', data }]);
    expect(tellStep(paid(), refund({ origin: 'event' }))).toMatchObject([{ data: { made_elsewhere: true } }]);
    expect(tellStep(paid(), refund({ morRefundId: null }))).toMatchObject([{ subject: 'ref/1:succeeded' }]);
    expect(tellStep(paid(), refund({}, paid({ paymentId: null })))).toMatchObject([{ data: { payment_id: 'pmt_1' } }]);
    expect(tellStep(paid(), refund({ paymentRowId: 'pmt_9' }))).toMatchObject([{ data: { payment_id: 'pmt_9' } }]);
  });

  it('a refund.failed notification carries the code of the refusal', () => {
    const failure = { status: 422, code: 'payment_not_refundable', message: 'Ada was paid' };
    expect(tellStep(paid(), refund({ status: 'failed', failure }))).toEqual([
      {
        type: 'refund.failed',
        subject: 'rfnd_1:failed',
        data: { ...data, failure_code: 'payment_not_refundable' },
      },
    ]);
    expect(tellStep(paid(), refund({ status: 'failed' }))).toMatchObject([{ data: { failure_code: null } }]);
  });

  it('a refund sends one notification when it succeeds or fails, and none before', () => {
    for (const status of ['requested', 'unknown', 'pending', 'joined'] as const) {
      expect(tellStep(paid(), refund({ status }))).toEqual([]);
      expect(tellStep(refund({ status }), refund())).toHaveLength(1);
    }
    expect(tellStep(refund(), refund())).toEqual([]);
    expect(tellStep(refund({ status: 'failed' }), refund({ status: 'failed' }))).toEqual([]);
    expect(tellStep(refund({ status: 'failed' }), refund()).map((t) => t.type)).toEqual(['refund.succeeded']);
    expect(tellStep(refund({ id: 'ref_2' }), refund())).toHaveLength(1);
  });
});

const signup = (over: object = {}): LaneState => paid({ signupId: 'sup_1', ...over });

it('a signup.completed notification goes out once, with the customer and the first payment', () => {
  const before = signup({ succeededAt: null });
  expect(tellStep(before, signup())).toEqual([
    {
      type: 'signup.completed',
      subject: 'sup_1',
      data: {
        ...{
          signup_id: 'sup_1',
          invoice_id: 'in_1',
          customer_id: 'cus_1',
          subscription_id: 'sub_1',
          payment_id: 'pay_1',
        },
        ...{ processor_charge_id: 'ch_1', amount: 2990, currency: 'eur', console: '/console/invoices/in_1' },
      },
    },
  ]);
  expect(notified('signup.completed', open, signup())).toHaveLength(1);
  expect(tellStep(signup(), signup())).toEqual([]);
  expect(tellStep(signup({ id: 'pmt_0' }), signup())).toHaveLength(1);
});

it('a signup.completed notification waits for the payment and its amount; a renewal sends no such notification', () => {
  expect(tellStep(paid(), signup({ succeededAt: null }))).toEqual([]);
  expect(tellStep(paid(), signup({ amount: null }))).toEqual([]);
  expect(tellStep(paid({ succeededAt: null }), paid())).toEqual([]);
});

it("each notification of a step has a line in the timeline with the notification's id", () => {
  const before = paid({ signupId: 'sup_1', succeededAt: null });
  const { notified: both, after } = putDownStep(
    { ...before, invoice: null },
    paid({ signupId: 'sup_1' }),
    STANDARD,
    NOW,
  );
  expect(both.map((t) => t.type)).toEqual(['invoice.paid', 'signup.completed']);
  expect(after.journal.slice(-2)).toEqual(
    both.map(({ id, type }) => ({
      ...{ lane: 'in_1', at: NOW, kind: 'decision', ref: id, detail: { notified: type } },
      text: `your backend is notified: ${type}`,
    })),
  );
  expect(after.journal.length).toBe(paid().journal.length + 2);
});

// What the merchant's backend is told of a step of an invoice: each thing that became so, once, with its facts and no more.
import { never } from '../../../../support/never.js';
import { FACTS, aKind } from '../../../../support/builders/item-facts.js';
import { describe, expect, it } from '@jest/globals';
import { type InvoiceRow } from '../../../../../src/shared/domain/invoice-row.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { type AttemptRow } from '../../../../../src/shared/domain/payment-row.js';
import { type RefundRow } from '../../../../../src/shared/domain/refund-row.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { type MorObjectDetail, type MorObjectRow, newMorObject } from '../../../../../src/shared/domain/mor-object.js';
import { findRefusalKind } from '../../../../../src/shared/domain/decline-kind.js';
import { type NotificationType, type Notice } from '../../../../../src/shared/domain/notification.js';
import { type ConfirmedMethod, type RetryHistory } from '../../../../../src/shared/domain/retry.js';
import { putDownStep } from '../../../../../src/features/notifications/rules/all.js';
import { type NamedReview } from '../../../../../src/core/books/rules/notice-facts.js';
import { reviewDueSoon, reviewOpened } from '../../../../../src/features/notifications/rules/tell-lane.js';
import { tellStep } from '../../../../support/builders/tell-step.js';
import { newRefund } from '../../../../../src/core/refunds/rules/refund.js';
import { aCtx, anOpenInvoice, NOW } from '../../../../support/builders/channel-lane.js';
import { aDispute, paid, paidTwice } from '../../../../support/builders/disputed-lane.js';
import { openReview } from '../../../../support/rigs/decide.js';
import { STANDARD } from '../../../../support/builders/notify-as.js';

const lossOf = (minor: bigint) => ({ of: 'pmt_1', minor: minor.toString(), entries: 1, movedAt: NOW.toISOString() });
const NEXT_TRY = new Date('2026-11-23T12:00:00Z');
/** What is said of the invoice `in_1` of 29.90 EUR in each of them. */
const facts = (status: string) => ({
  ...{ invoice_id: 'in_1', customer_id: 'cus_1', subscription_id: 'sub_1', status },
  ...{ amount_due: 2990, currency: 'eur', console: '/console/invoices/in_1' },
});
const notified = (type: NotificationType, before: LaneState, after: LaneState): readonly Notice[] =>
  tellStep(before, after).filter((t) => t.type === type);
const invoiceIs = (state: LaneState, over: Partial<InvoiceRow>): LaneState => ({
  ...state,
  invoice: state.invoice === null ? null : { ...state.invoice, ...over },
});
const open = invoiceIs(anOpenInvoice(), { status: 'open' });
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

const verdict = (over: Partial<AttemptRow> = {}): AttemptRow => ({
  ...{ eventId: 'evt_9', invoiceId: 'in_1', paymentId: 'pay_9', outcome: 'failed', amount: 2990n, currency: 'EUR' },
  ...{ failureMessage: 'Ada has no money', declineCode: 'expired_card', processorPaymentIntentId: 'pi_9', at: NOW },
  ...over,
});
const after = (over: Partial<AttemptRow> = {}, state = open): LaneState => ({ ...state, attempts: [verdict(over)] });

it('a decline sends invoice.left_open with its code and the time of the next retry, and no free text', () => {
  expect(tellStep(open, invoiceIs(after(), { nextTryAt: NEXT_TRY }))).toEqual([
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
  expect(tellStep(open, after({ declineCode: null }))).toMatchObject([
    { data: { decline_code: null, next_try_at: null } },
  ]);
});

const declined = (code: string, over: Partial<RetryHistory['refusal']> = {}): RetryHistory => {
  const kind = findRefusalKind('failed', code);
  const [at, heardAt] = [NOW.toISOString(), NOW.toISOString()];
  const refusal = { at, heardAt, eventId: 'evt_9', outcome: 'failed', kind, code, ...over } as const;
  return { refusal, retries: [], waitingSince: null, askedAt: null, ended: null };
};
const refusedLane = (retries: RetryHistory, method: ConfirmedMethod | null = null): LaneState =>
  invoiceIs(after({ declineCode: retries.refusal.code }), { retries, method });

it('a hard decline sends customer.method_needed with code, message, invoice, customer and amount', () => {
  expect(notified('customer.method_needed', open, refusedLane(declined('expired_card')))).toMatchObject([
    {
      subject: 'in_1:attempt:evt_9',
      data: {
        ...{ invoice_id: 'in_1', customer_id: 'cus_1', payment_id: 'pay_9', amount: 2990 },
        ...{ decline_code: 'expired_card', failure_message: 'Ada has no money' },
      },
    },
  ]);
});

it('a soft decline, or a hard decline older than the newest decline, sends no customer.method_needed', () => {
  for (const history of [declined('insufficient_funds'), declined('expired_card', { eventId: 'evt_2' })])
    expect(tellStep(open, refusedLane(history)).map((t) => t.type)).toEqual(['invoice.left_open']);
});

it('a hard decline of the old method sends no customer.method_needed while a newly confirmed method waits for a charge', () => {
  const since = open.invoice?.firstSeenAt ?? NOW;
  const method = { id: 'met_1', at: new Date(since.getTime() + 1).toISOString(), by: 'shop' };
  expect(tellStep(open, refusedLane(declined('expired_card'), method)).map((t) => t.type)).toEqual([
    'invoice.left_open',
  ]);
});

it('a required authentication sends invoice.action_required with the payment intent', () => {
  expect(tellStep(open, after({ outcome: 'requires_action' }))).toEqual([
    {
      type: 'invoice.action_required',
      subject: 'in_1:attempt:evt_9',
      data: { ...facts('open'), payment_id: 'pay_9', processor_payment_intent_id: 'pi_9' },
    },
  ]);
});

it('a decline sends a notification only while the invoice is expected, open or in review', () => {
  expect(notifiedWhile('invoice.left_open', open, after())).toEqual(['expected', 'open', 'review']);
  const action = after({ outcome: 'requires_action' });
  expect(notifiedWhile('invoice.action_required', open, action)).toEqual(['expected', 'open', 'review']);
  expect(tellStep(open, { ...after(), invoice: null })).toEqual([]);
});

it('a success, or a decline of an already successful payment, sends no invoice.left_open', () => {
  expect(tellStep(open, after({ outcome: 'succeeded' }))).toEqual([]);
  const taken = paid().payments.map((p) => ({ ...p, paymentId: 'pay_9' }));
  expect(tellStep(open, after({}, { ...open, payments: taken }))).toEqual([]);
  const refused = taken.map((p) => ({ ...p, succeededAt: null }));
  expect(tellStep(open, after({}, { ...open, payments: refused }))).toHaveLength(1);
  expect(tellStep(open, after({}, { ...open, payments: paid().payments }))).toHaveLength(1);
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

const link = (over: Partial<MorObjectRow> = {}): LaneState => {
  const made = { status: 'PAYABLE', morId: 'pl_1', url: 'https://pay.example/pl_1', amount: 2990n, currency: 'EUR' };
  const row = newMorObject(NOW, { id: 'lnk_1', kind: 'payment_link', invoiceId: 'in_1', ...made, ...over });
  return { ...open, objects: [row] };
};

it('a payment_link.created notification carries the URL, the amount and the expiry', () => {
  expect(tellStep(open, link({ deadline: NEXT_TRY, detail: { automatic: true } }))).toEqual([
    {
      type: 'payment_link.created',
      subject: 'pl_1',
      data: {
        ...{
          payment_link_id: 'pl_1',
          invoice_id: 'in_1',
          customer_id: 'cus_1',
          subscription_id: 'sub_1',
          url: 'https://pay.example/pl_1',
        },
        ...{ amount: 2990, currency: 'eur', expires_at: '2026-11-23T12:00:00.000Z', automatic: true },
        console: '/console/invoices/in_1',
      },
    },
  ]);
  const bare = { ...link({ amount: null, currency: null }), invoice: null };
  expect(tellStep(open, bare)).toMatchObject([
    {
      data: {
        amount: null,
        currency: null,
        expires_at: null,
        automatic: false,
        customer_id: null,
        subscription_id: null,
      },
    },
  ]);
});

it('a payment_link.created notification goes out once, after the MoR gives the link an id and a URL', () => {
  for (const missing of [{ morId: null }, { url: null }]) {
    expect(tellStep(open, link(missing))).toEqual([]);
    expect(tellStep(link(missing), link())).toHaveLength(1);
  }
  expect(tellStep(link(), link({ status: 'EXPIRED' }))).toEqual([]);
  expect(tellStep(link({ id: 'lnk_0' }), link())).toHaveLength(1);
  for (const kind of ['proforma', 'dispute'] as const) expect(tellStep(open, link({ kind }))).toEqual([]);
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

describe('a dispute', () => {
  const at = (day: number): string => `2026-11-${day}T00:00:00.000Z`;
  const said = (day: number): MorObjectDetail => ({ stage: 'action_needed', saidAt: at(day) });
  const wanted = (day: number): Partial<MorObjectRow> => ({ status: 'action_needed', detail: said(day) });
  const over = (outcome: string, day: number, detail: MorObjectDetail = said(1)): Partial<MorObjectRow> => ({
    status: outcome,
    detail: { ...detail, outcome, outcomeAt: at(day) },
  });
  const lane = (of: Partial<MorObjectRow>, state = paid()): LaneState => ({ ...state, objects: [aDispute(of)] });
  const types = (before: LaneState, after: LaneState): string[] => tellStep(before, after).map((t) => t.type);
  const data = {
    ...{ dispute_id: 'dp_1', payment_id: 'pay_1', processor_charge_id: 'ch_1', invoice_id: 'in_1' },
    ...{ customer_id: 'cus_1', subscription_id: 'sub_1', amount: 2990, currency: 'eur' },
    console: '/console/disputes/dsp_1',
  };

  it('a new dispute sends one dispute.opened with customer, subscription and deadline', () => {
    const opened = tellStep(paid(), lane({ ...wanted(1), deadline: NEXT_TRY }));
    const subject = `in_1:dp_1:open:${at(1)}`;
    expect(opened).toEqual([{ type: 'dispute.opened', subject, data: { ...data, due_at: NEXT_TRY.toISOString() } }]);
    expect(types(paid(), lane({ status: 'revision_requested' }))).toEqual(['dispute.opened']);
    expect(types(lane(wanted(1)), lane({ ...wanted(2), deadline: NEXT_TRY }))).toEqual([]);
    expect(types(paid(), lane({ kind: 'alert', status: 'received' }))).toEqual([]);
  });

  it('an outcome sends one dispute.closed with the outcome, also where no dispute.opened came before', () => {
    const lost = { ...over('lost', 2), detail: { ...over('lost', 2).detail, loss: lossOf(2990n) } };
    for (const before of [paid(), lane(wanted(1))])
      expect(tellStep(before, lane(lost))).toEqual([
        {
          type: 'dispute.closed',
          subject: `in_1:dp_1:lost:${at(2)}`,
          data: { ...data, outcome: 'lost', amount_left: 0 },
        },
      ]);
    expect(tellStep(lane(lost), lane(over('won', 3)))).toMatchObject([
      { type: 'dispute.closed', subject: `in_1:dp_1:won:${at(3)}`, data: { outcome: 'won', amount_left: 2990 } },
    ]);
  });

  it('the same outcome under another event, a late request for evidence and an unclear outcome send nothing', () => {
    expect(types(lane(over('lost', 2)), lane(over('lost', 3)))).toEqual([]);
    expect(types(lane(over('lost', 2, {})), lane(over('lost', 2, said(1))))).toEqual([]);
    expect(types(lane(wanted(1)), lane(over('decided', 2)))).toEqual([]);
    expect(types(paid(), lane(over('decided', 2, {})))).toEqual([]);
  });

  it('a request for evidence after an outcome sends dispute.opened again, under another id', () => {
    const [first] = tellStep(paid(), lane(wanted(1)));
    const again = tellStep(lane(over('lost', 2)), lane(over('lost', 2, said(3))));
    expect(again).toMatchObject([{ type: 'dispute.opened' }]);
    expect(again[0]?.subject).not.toBe(first?.subject);
  });

  it('a dispute of an unknown payment sends customer and subscription of its invoice', () => {
    expect(tellStep(open, lane({ ...wanted(1), paymentRowId: null }, open))).toMatchObject([
      { data: { payment_id: null, amount: null, currency: null, customer_id: 'cus_1', subscription_id: 'sub_1' } },
    ]);
  });

  it('news that ends or gives access waits for the customer and the subscription on Stripe', () => {
    const s = invoiceIs(lane(over('lost', 2)), { platformStatus: 'unknown', customerId: null, subscriptionId: null });
    const [p = never()] = s.payments;
    const row = {
      ...newRefund(aCtx(), p, { amount: 500n, reason: null, origin: 'event' }),
      status: 'succeeded',
    } as const;
    const unread: LaneState = { ...s, payments: [{ ...p, signupId: 'sup_1' }], refunds: [row] };
    const named = (platformStatus: 'open' | 'deleted'): LaneState => invoiceIs(unread, { platformStatus });
    const waiting = ['dispute.closed', 'refund.succeeded', 'signup.completed'];
    expect(types({ ...paid(), invoice: null, payments: [] }, unread)).not.toEqual(expect.arrayContaining(waiting));
    expect(types(unread, named('open'))).toEqual(waiting);
    expect(types(unread, named('deleted'))).toEqual(waiting);
    expect(types(named('open'), named('open'))).toEqual([]);
    // The MoR's events name the customer, so an invoice unknown to Stripe still has one.
    expect(tellStep(unread, named('deleted')).map((t) => 'customer_id' in t.data && t.data.customer_id)).toEqual(
      waiting.map(() => 'cus_1'),
    );
  });
});

it('a returned debit sends debit.returned, and the end of a mistaken record sends it again as undone', () => {
  const row = (status: string, minor = 2990n): MorObjectRow =>
    aDispute({
      id: 'ret_1',
      kind: 'debit_return',
      morId: null,
      status,
      amount: 1990n,
      currency: 'EUR',
      detail: { loss: lossOf(minor) },
    });
  const lane = (...objects: MorObjectRow[]): LaneState => ({ ...paid(), objects });
  const data = {
    ...{ return_id: 'ret_1', invoice_id: 'in_1', customer_id: 'cus_1', subscription_id: 'sub_1', payment_id: 'pay_1' },
    ...{ processor_charge_id: 'ch_1', amount: 1990, currency: 'eur', console: '/console/invoices/in_1' },
  };
  const returned = { ...data, status: 'returned', amount_left: 0 };
  expect(tellStep(paid(), lane(row('returned')))).toEqual([
    { type: 'debit.returned', subject: 'ret_1:returned', data: returned },
  ]);
  expect(tellStep(lane(row('returned')), lane(row('undone', 0n)))).toEqual([
    { type: 'debit.returned', subject: 'ret_1:undone', data: { ...data, status: 'undone', amount_left: 2990 } },
  ]);
  expect(tellStep(lane(row('returned')), lane(row('returned')))).toEqual([]);
  expect(tellStep(paid({ amount: null }), { ...lane(row('returned')), payments: [] })).toEqual([]);
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

// Finds the notifications of a step: compares the lane before and after, so no rule can forget a notification.
import { type LaneState } from '../../../shared/domain/model.js';
import { type AttemptRow, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { amountLeft } from '../../../shared/domain/amount-left.js';
import { type Feature } from '../../../feature.js';
import { type Notice } from '../../../shared/domain/notification.js';
import {
  LEFT_OPEN,
  type NamedReview,
  customerFacts,
  invoiceFacts,
  invoicePage,
  nameOf,
  namesOf,
  number,
  paymentFacts,
  refundFacts,
  refusedTries,
  reviewFacts,
  time,
  whenNamed,
} from '../../../core/books/rules/notice-facts.js';

/** All notifications of this step. Pure: the same step gives the same bytes. */
export function tellLane(before: LaneState, after: LaneState, features: readonly Feature[]): readonly Notice[] {
  return [
    ...paid(before, after),
    ...verdicts(after),
    ...leftOpen(before, after),
    ...features.flatMap(({ tell }) => tell?.(before, after) ?? []),
    ...whenNamed(before, after, money),
    ...after.reviews
      .filter((r) => isOpen(r) && !wasOpen(before, r))
      .map((r) => reviewOpened({ ...r, ...namesOf(after) })),
  ];
}

const isOpen = (item: ReviewRow): boolean => item.status === 'open';

const wasOpen = (before: LaneState, item: ReviewRow): boolean =>
  before.reviews.some((x) => x.id === item.id && isOpen(x));

const money = (before: LaneState, after: LaneState): readonly Notice[] => [
  ...refunds(before, after),
  ...signups(before, after),
];

function paid(before: LaneState, after: LaneState): Notice[] {
  const i = after.invoice;
  if (i === null || i.status !== 'paid' || before.invoice?.status === 'paid' || i.amountDue === 0n) return [];
  const payments = after.payments.filter((p) => p.mark === 'confirmed').flatMap((p) => paymentFacts(p) ?? []);
  const data = { ...invoiceFacts(after), payments, amount_left: number(amountLeft(after)) };
  return [{ type: 'invoice.paid', subject: i.invoiceId, data }];
}

function verdicts(after: LaneState): Notice[] {
  return refusedTries(after).map((a) => (a.outcome === 'failed' ? failed(after, a) : actionRequired(after, a)));
}

function failed(after: LaneState, attempt: AttemptRow): Notice {
  return {
    type: 'invoice.left_open',
    subject: `${attempt.invoiceId}:attempt:${attempt.eventId}`,
    data: {
      ...invoiceFacts(after),
      why: 'payment_failed',
      payment_id: attempt.paymentId,
      decline_code: attempt.declineCode,
      review_id: null,
      next_try_at: time(after.invoice?.nextTryAt ?? null),
    },
  };
}

function actionRequired(after: LaneState, attempt: AttemptRow): Notice {
  const data = {
    ...invoiceFacts(after),
    payment_id: attempt.paymentId,
    processor_payment_intent_id: attempt.processorPaymentIntentId,
  };
  return { type: 'invoice.action_required', subject: `${attempt.invoiceId}:attempt:${attempt.eventId}`, data };
}

/** Reports an invoice left open without a refusal: the MoR gave no verdict, or the money waits for a person. */
function leftOpen(before: LaneState, after: LaneState): Notice[] {
  if (after.invoice === null || !LEFT_OPEN.has(after.invoice.status)) return [];
  return after.reviews.flatMap((r): Notice[] => {
    const { paymentRowId, kind } = r;
    if (!isOpen(r) || wasOpen(before, r)) return [];
    const payment = after.payments.find((p) => p.id === paymentRowId);
    const why = kind === 'renewal_overdue' ? 'no_verdict' : payment?.mark === 'parked' ? 'review' : null;
    if (why === null) return [];
    const data = {
      ...invoiceFacts(after),
      why,
      payment_id: payment === undefined ? null : nameOf(payment),
      decline_code: null,
      review_id: r.id,
      next_try_at: time(after.invoice?.nextTryAt ?? null),
    } as const;
    return [{ type: 'invoice.left_open', subject: `${after.lane}:review:${r.id}`, data }];
  });
}

function refunds(before: LaneState, after: LaneState): Notice[] {
  return after.refunds.flatMap((r): Notice[] => {
    const was = before.refunds.find((x) => x.id === r.id)?.status;
    if (r.status === was || (r.status !== 'succeeded' && r.status !== 'failed')) return [];
    const data = refundFacts(after, r);
    // With the MoR's id the notification's id stays the same after a restored backup. A refused refund has no such id.
    const subject = `${r.morRefundId ?? r.id}:${r.status}`;
    if (r.status === 'succeeded') return [{ type: 'refund.succeeded', subject, data }];
    return [{ type: 'refund.failed', subject, data: { ...data, failure_code: r.failure?.code ?? null } }];
  });
}

function signups(before: LaneState, after: LaneState): Notice[] {
  const completed = (payment: PaymentRow): boolean => payment.signupId !== null && payment.succeededAt !== null;
  return after.payments.flatMap((p): Notice[] => {
    const facts = paymentFacts(p);
    if (!completed(p) || p.signupId === null || facts === null) return [];
    if (before.payments.some((x) => x.id === p.id && completed(x))) return [];
    const { invoiceId: invoice_id, customerId: customer_id } = p;
    const whose = { ...customerFacts(after), customer_id };
    const data = { signup_id: p.signupId, invoice_id, ...whose, ...facts, console: invoicePage(invoice_id) };
    return [{ type: 'signup.completed', subject: p.signupId, data }];
  });
}

export function reviewOpened(item: NamedReview): Notice {
  return { type: 'review.opened', subject: item.id, data: reviewFacts(item) };
}

/** Reports a near deadline. The id comes from the deadline too, so a moved deadline makes a new notification. */
export function reviewDueSoon(item: NamedReview): Notice {
  return { type: 'review.due_soon', subject: `${item.id}:${time(item.dueAt) ?? ''}`, data: reviewFacts(item) };
}

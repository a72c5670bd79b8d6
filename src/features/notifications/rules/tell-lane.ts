// Finds the notifications of a step: compares the lane before and after, so no rule can forget a notification.
import {
  type AttemptRow,
  type LaneState,
  type PaymentRow,
  type PublicInvoiceStatus,
  type ReviewRow,
} from '../../../shared/domain/model.js';
import { amountLeft } from '../../../shared/domain/amount-left.js';
import { asksAfterOutcome, type MorObjectRow, objectId } from '../../../shared/domain/mor-object.js';
import { untriedMethod } from '../../../shared/domain/retry.js';
import { type Notice } from '../../../shared/domain/notification.js';
import {
  type NamedReview,
  currency,
  customerFacts,
  disputeFacts,
  invoiceFacts,
  invoicePage,
  nameOf,
  namesOf,
  number,
  paymentFacts,
  refundFacts,
  reviewFacts,
  time,
} from './notice-facts.js';

/** All notifications of this step. Pure: the same step gives the same bytes. */
export function tellLane(before: LaneState, after: LaneState): readonly Notice[] {
  return [
    ...paid(before, after),
    ...verdicts(after),
    ...leftOpen(before, after),
    ...links(before, after),
    ...(isNamed(after)
      ? money(isNamed(before) ? before : { ...before, payments: [], refunds: [], objects: [] }, after)
      : []),
    ...after.reviews
      .filter((r) => isOpen(r) && !wasOpen(before, r))
      .map((r) => reviewOpened({ ...r, ...namesOf(after) })),
  ];
}

/**
 * Notifications that give or end a customer's access. They need the customer and the subscription, so they wait for
 * Stripe's facts about the invoice.
 */
function money(before: LaneState, after: LaneState): readonly Notice[] {
  return [...refunds(before, after), ...disputes(before, after), ...returns(before, after), ...signups(before, after)];
}

/** True if Crossbill has Stripe's facts about the invoice, or Stripe has no such invoice. */
function isNamed({ invoice }: LaneState): boolean {
  return invoice !== null && invoice.platformStatus !== 'unknown';
}

// The statuses of an invoice still waiting for its money. In every other status no money is open, even after a late
// refusal.
const LEFT_OPEN: ReadonlySet<PublicInvoiceStatus> = new Set(['expected', 'open', 'review']);

const isOpen = (item: ReviewRow): boolean => item.status === 'open';

const wasOpen = (before: LaneState, item: ReviewRow): boolean =>
  before.reviews.some((x) => x.id === item.id && isOpen(x));

function paid(before: LaneState, after: LaneState): Notice[] {
  const i = after.invoice;
  if (i === null || i.status !== 'paid' || before.invoice?.status === 'paid' || i.amountDue === 0n) return [];
  const payments = after.payments.filter((p) => p.mark === 'confirmed').flatMap((p) => paymentFacts(p) ?? []);
  const data = { ...invoiceFacts(after), payments, amount_left: number(amountLeft(after)) };
  return [{ type: 'invoice.paid', subject: i.invoiceId, data }];
}

/** The MoR's verdicts in this step. A refusal no longer counts if the payment has succeeded since. */
function verdicts(after: LaneState): Notice[] {
  return after.attempts.flatMap((a): Notice[] => {
    if (a.outcome === 'succeeded' || after.invoice === null || !LEFT_OPEN.has(after.invoice.status)) return [];
    if (after.payments.some((p) => p.paymentId === a.paymentId && p.succeededAt !== null)) return [];
    const notice = a.outcome === 'failed' ? failed(after, a) : actionRequired(after, a);
    return [notice, ...methodNeeded(after, a)];
  });
}

/**
 * Asks the backend for another payment method of the customer: the refused method will not work again. Makes no
 * notification while Crossbill has a newer confirmed method to try.
 */
function methodNeeded(after: LaneState, attempt: AttemptRow): Notice[] {
  const { invoice } = after;
  const refusal = invoice?.retries?.refusal;
  if (
    invoice === null ||
    refusal?.eventId !== attempt.eventId ||
    refusal.kind !== 'hard' ||
    untriedMethod(invoice) !== null
  )
    return [];
  const data = {
    ...invoiceFacts(after),
    payment_id: attempt.paymentId,
    amount: Number(attempt.amount),
    decline_code: attempt.declineCode,
    failure_message: attempt.failureMessage,
  };
  return [{ type: 'customer.method_needed', subject: `${attempt.invoiceId}:attempt:${attempt.eventId}`, data }];
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

// In these statuses the customer has nothing to pay. The backend would send the customer a new link, so Crossbill makes
// no notification about the link.
const NOTHING_TO_PAY: ReadonlySet<PublicInvoiceStatus> = new Set(['marking', 'paid', 'void']);

function links(before: LaneState, after: LaneState): Notice[] {
  if (after.invoice !== null && NOTHING_TO_PAY.has(after.invoice.status)) return [];
  const made = (object: MorObjectRow): boolean =>
    object.kind === 'payment_link' && object.morId !== null && object.url !== null;
  return after.objects.flatMap((o): Notice[] => {
    const { morId, url } = o;
    if (!made(o) || morId === null || url === null || before.objects.some((x) => x.id === o.id && made(x))) return [];
    const data = {
      payment_link_id: morId,
      invoice_id: o.invoiceId,
      ...customerFacts(after),
      url,
      amount: number(o.amount),
      currency: currency(o.currency),
      expires_at: time(o.deadline),
      automatic: o.detail.automatic === true,
      console: invoicePage(o.invoiceId),
    };
    return [{ type: 'payment_link.created', subject: morId, data }];
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

type DisputeStatus = 'open' | 'won' | 'lost' | null;

/**
 * Where the dispute stands for the backend. Null: not known, or its outcome is unclear and a person decides. A request
 * for evidence after an outcome opens the dispute again.
 */
function statusOf(object: MorObjectRow | undefined): DisputeStatus {
  if (object === undefined || object.kind !== 'dispute') return null;
  if (object.status === 'action_needed' || object.status === 'revision_requested' || asksAfterOutcome(object))
    return 'open';
  return object.status === 'won' || object.status === 'lost' ? object.status : null;
}

/**
 * Reports each change of a dispute's standing. The subject has the time of the MoR's event: the bank may decide again,
 * and each decision is a notification of its own. A repeat under another event id changes nothing.
 */
function disputes(before: LaneState, after: LaneState): Notice[] {
  return after.objects.flatMap((o): Notice[] => {
    const status = statusOf(o);
    if (status === null || status === statusOf(before.objects.find((x) => x.id === o.id))) return [];
    const { saidAt = '', outcomeAt = '' } = o.detail;
    const facts = disputeFacts(after, o);
    if (status === 'open') {
      const subject = `${o.invoiceId}:${objectId(o)}:open:${saidAt}`;
      return [{ type: 'dispute.opened', subject, data: { ...facts, due_at: time(o.deadline) } }];
    }
    const data = { ...facts, outcome: status, amount_left: number(amountLeft(after)) };
    return [{ type: 'dispute.closed', subject: `${o.invoiceId}:${objectId(o)}:${status}:${outcomeAt}`, data }];
  });
}

/** Reports a returned debit, and the end of a mistaken record: a backend may have ended the customer's access. */
function returns(before: LaneState, after: LaneState): Notice[] {
  return after.objects.flatMap((o): Notice[] => {
    const status = o.status === 'undone' ? 'undone' : 'returned';
    const payment = after.payments.find((p) => p.id === o.paymentRowId);
    const facts = payment === undefined ? null : paymentFacts(payment);
    if (o.kind !== 'debit_return' || facts === null) return [];
    if (before.objects.find((x) => x.id === o.id)?.status === o.status) return [];
    const data = {
      return_id: o.id,
      status,
      invoice_id: o.invoiceId,
      ...customerFacts(after),
      ...facts,
      amount: number(o.amount) ?? facts.amount,
      amount_left: number(amountLeft(after)),
      console: invoicePage(o.invoiceId),
    } as const;
    return [{ type: 'debit.returned', subject: `${o.id}:${status}`, data }];
  });
}

export function reviewOpened(item: NamedReview): Notice {
  return { type: 'review.opened', subject: item.id, data: reviewFacts(item) };
}

/** Reports a near deadline. The id comes from the deadline too, so a moved deadline makes a new notification. */
export function reviewDueSoon(item: NamedReview): Notice {
  return { type: 'review.due_soon', subject: `${item.id}:${time(item.dueAt) ?? ''}`, data: reviewFacts(item) };
}

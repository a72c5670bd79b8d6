// The facts in the data of notifications. The names in them are part of the API.
import { amountLeft } from '../../../shared/domain/amount-left.js';
import { type InvoiceRow, type PublicInvoiceStatus } from '../../../shared/domain/invoice-row.js';
import { type LaneState } from '../../../shared/domain/model.js';
import { type AttemptRow, type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type RefundRow } from '../../../shared/domain/refund-row.js';
import { type ReviewRow } from '../../../shared/domain/review-row.js';
import { type Notice } from '../../../shared/domain/notification.js';
import {
  type CustomerFacts,
  type InvoiceFacts,
  type PaymentFacts,
  type RefundFacts,
  type ReviewFacts,
} from '../../../shared/domain/notification-parts.js';

/** A review item, with the customer and the subscription of its invoice as far as they are known. */
export type NamedReview = ReviewRow & Pick<InvoiceRow, 'customerId' | 'subscriptionId'>;

export function reviewFacts(item: NamedReview): ReviewFacts {
  return {
    review_id: item.id,
    kind: item.kind,
    invoice_id: item.invoiceId,
    customer_id: item.customerId,
    subscription_id: item.subscriptionId,
    refund_id: item.refundId,
    due_at: time(item.dueAt),
    console: `/console/reviews/${encodeURIComponent(item.id)}`,
  };
}

/** The MoR's events name the customer too, so a payment has the id while Stripe does not reply. */
export function namesOf({ invoice, payments }: LaneState): Pick<InvoiceRow, 'customerId' | 'subscriptionId'> {
  const named = payments.find((p) => p.customerId !== '')?.customerId;
  return { customerId: invoice?.customerId ?? named ?? null, subscriptionId: invoice?.subscriptionId ?? null };
}

export function customerFacts(state: LaneState): CustomerFacts {
  const { customerId: customer_id, subscriptionId: subscription_id } = namesOf(state);
  return { customer_id, subscription_id };
}

export function invoiceFacts(state: LaneState): InvoiceFacts {
  const { lane, invoice: i } = state;
  return {
    invoice_id: i?.invoiceId ?? lane,
    ...customerFacts(state),
    status: i?.status ?? 'expected',
    amount_due: number(i?.amountDue ?? null),
    currency: currency(i?.currency ?? null),
    console: invoicePage(i?.invoiceId ?? lane),
  };
}

/** Null if the payment's amount is unknown: then there is nothing to report. */
export function paymentFacts(payment: PaymentRow): PaymentFacts | null {
  if (payment.amount === null) return null;
  return {
    payment_id: nameOf(payment),
    processor_charge_id: payment.processorChargeId,
    amount: Number(payment.amount),
    currency: payment.currency.toLowerCase(),
  };
}

export function refundFacts(after: LaneState, refund: RefundRow): RefundFacts {
  const payment = after.payments.find((p) => p.id === refund.paymentRowId);
  return {
    refund_id: refund.id,
    mor_refund_id: refund.morRefundId,
    processor_refund_id: refund.processorRefundId,
    payment_id: payment === undefined ? refund.paymentRowId : nameOf(payment),
    invoice_id: refund.invoiceId,
    ...customerFacts(after),
    amount: Number(refund.amount),
    currency: refund.currency.toLowerCase(),
    amount_left: number(amountLeft(after)),
    made_elsewhere: refund.origin === 'event',
    console: `/console/refunds/${encodeURIComponent(refund.id)}`,
  };
}

export const nameOf = (payment: PaymentRow): string => payment.paymentId ?? payment.id;
/** Converts an amount to a number. This is safe: our largest amount (`MAX_MINOR`) fits a JSON number. */
export const number = (minor: bigint | null): number | null => (minor === null ? null : Number(minor));
export const currency = (code: string | null): string | null => code?.toLowerCase() ?? null;
export const time = (at: Date | null): string | null => at?.toISOString() ?? null;
export const invoicePage = (id: string): string => `/console/invoices/${encodeURIComponent(id)}`;

// The statuses of an invoice still waiting for its money. In every other status no money is open, even after a late
// refusal.
export const LEFT_OPEN: ReadonlySet<PublicInvoiceStatus> = new Set(['expected', 'open', 'review']);

/** The MoR's refusals in this step. A refusal no longer counts if the payment has succeeded since. */
export function refusedTries(after: LaneState): readonly AttemptRow[] {
  return after.attempts.filter((a) => {
    if (a.outcome === 'succeeded' || after.invoice === null || !LEFT_OPEN.has(after.invoice.status)) return false;
    return !after.payments.some((p) => p.paymentId === a.paymentId && p.succeededAt !== null);
  });
}

/**
 * Makes notifications that give or end a customer's access. They need the customer and the subscription, so they wait for
 * Stripe's facts about the invoice.
 */
export function whenNamed(
  before: LaneState,
  after: LaneState,
  tell: (before: LaneState, after: LaneState) => readonly Notice[],
): readonly Notice[] {
  if (!isNamed(after)) return [];
  return tell(isNamed(before) ? before : { ...before, payments: [], refunds: [], objects: [] }, after);
}

/** True if Crossbill has Stripe's facts about the invoice, or Stripe has no such invoice. */
function isNamed({ invoice }: LaneState): boolean {
  return invoice !== null && invoice.platformStatus !== 'unknown';
}

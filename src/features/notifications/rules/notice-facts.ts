// The facts in the data of notifications. The names in them are part of the API.
import { amountLeft } from '../../../shared/domain/amount-left.js';
import { disputedOf } from '../../../shared/domain/dispute-sum.js';
import {
  type InvoiceRow,
  type LaneState,
  type PaymentRow,
  type RefundRow,
  type ReviewRow,
} from '../../../shared/domain/model.js';
import { type MorObjectRow, objectId } from '../../../shared/domain/mor-object.js';
import {
  type CustomerFacts,
  type DisputeFacts,
  type InvoiceFacts,
  type PaymentFacts,
  type RefundFacts,
  type ReviewFacts,
} from '../../../shared/domain/notification.js';

/** A review item, with the customer and the subscription of its invoice as far as they are known. */
export type NamedReview = ReviewRow & Pick<InvoiceRow, 'customerId' | 'subscriptionId'>;

export function reviewFacts(r: NamedReview): ReviewFacts {
  return {
    review_id: r.id,
    kind: r.kind,
    invoice_id: r.invoiceId,
    customer_id: r.customerId,
    subscription_id: r.subscriptionId,
    refund_id: r.refundId,
    due_at: time(r.dueAt),
    console: `/console/reviews/${encodeURIComponent(r.id)}`,
  };
}

/** The MoR's events name the customer too, so a payment has the id while Stripe does not reply. */
export function namesOf({ invoice, payments }: LaneState): Pick<InvoiceRow, 'customerId' | 'subscriptionId'> {
  const named = payments.find((p) => p.customerId !== '')?.customerId;
  return { customerId: invoice?.customerId ?? named ?? null, subscriptionId: invoice?.subscriptionId ?? null };
}

export function customerFacts(s: LaneState): CustomerFacts {
  const { customerId: customer_id, subscriptionId: subscription_id } = namesOf(s);
  return { customer_id, subscription_id };
}

export function invoiceFacts(s: LaneState): InvoiceFacts {
  const { lane, invoice: i } = s;
  return {
    invoice_id: i?.invoiceId ?? lane,
    ...customerFacts(s),
    status: i?.status ?? 'expected',
    amount_due: number(i?.amountDue ?? null),
    currency: currency(i?.currency ?? null),
    console: invoicePage(i?.invoiceId ?? lane),
  };
}

/** Null if the payment's amount is unknown: then there is nothing to report. */
export function paymentFacts(p: PaymentRow): PaymentFacts | null {
  if (p.amount === null) return null;
  return {
    payment_id: nameOf(p),
    processor_charge_id: p.processorChargeId,
    amount: Number(p.amount),
    currency: p.currency.toLowerCase(),
  };
}

export function refundFacts(after: LaneState, r: RefundRow): RefundFacts {
  const payment = after.payments.find((p) => p.id === r.paymentRowId);
  return {
    refund_id: r.id,
    mor_refund_id: r.morRefundId,
    processor_refund_id: r.processorRefundId,
    payment_id: payment === undefined ? r.paymentRowId : nameOf(payment),
    invoice_id: r.invoiceId,
    ...customerFacts(after),
    amount: Number(r.amount),
    currency: r.currency.toLowerCase(),
    amount_left: number(amountLeft(after)),
    made_elsewhere: r.origin === 'event',
    console: `/console/refunds/${encodeURIComponent(r.id)}`,
  };
}

export function disputeFacts(after: LaneState, o: MorObjectRow): DisputeFacts {
  const payment = after.payments.find((p) => p.id === o.paymentRowId);
  const { amount } = disputedOf(after, o);
  return {
    dispute_id: objectId(o),
    payment_id: payment === undefined ? null : nameOf(payment),
    processor_charge_id: payment?.processorChargeId ?? null,
    invoice_id: o.invoiceId,
    ...customerFacts(after),
    amount: number(amount?.minor ?? null),
    currency: currency(amount?.currency ?? null),
    console: `/console/disputes/${encodeURIComponent(o.id)}`,
  };
}

export const nameOf = (p: PaymentRow): string => p.paymentId ?? p.id;
/** Converts an amount to a number. This is safe: our largest amount (`MAX_MINOR`) fits a JSON number. */
export const number = (minor: bigint | null): number | null => (minor === null ? null : Number(minor));
export const currency = (code: string | null): string | null => code?.toLowerCase() ?? null;
export const time = (at: Date | null): string | null => at?.toISOString() ?? null;
export const invoicePage = (id: string): string => `/console/invoices/${encodeURIComponent(id)}`;

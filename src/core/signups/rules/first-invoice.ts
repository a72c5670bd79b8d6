// Compares a signup with its first invoice on Stripe, before the shopper pays.
import { money, type Money, sameMoney, showMoney } from '../../../shared/domain/money.js';
import { type InvoiceFacts } from '../../../shared/domain/ports/billing-platform.js';
import { type Refusal, refuse, type Result } from '../../../engine/commanded.js';

/** The part of a request with the shopper's sum. An error names this field. */
export type SumField = 'amount' | 'tax' | 'tax_calculation_id';

/**
 * The sum the invoice still asks for. Refuses an invoice that a charge cannot pay, and another customer's.
 * @param invoice null: Stripe has no such invoice
 */
export function dueOf(invoice: InvoiceFacts | null, customerId: string): Result<Money> {
  if (invoice === null || invoice.status === 'deleted') {
    return refuse(404, 'not_found', 'Stripe has no such invoice.', 'invoice_id');
  }
  const { invoiceId, status, amountRemaining, currency } = invoice;
  if (invoice.customerId !== customerId) {
    const message = `Invoice ${invoiceId} belongs to customer ${invoice.customerId} on Stripe.`;
    return refuse(409, 'customer_differs', message, 'customer.id');
  }
  // Somebody may still pay an uncollectible invoice, but no signup should begin with one.
  if (status !== 'open' && status !== 'draft') {
    return refuse(409, 'invoice_not_payable', `Invoice ${invoiceId} is ${status} on Stripe.`, 'invoice_id');
  }
  if (amountRemaining <= 0n) {
    const message = `Nothing is due on invoice ${invoiceId}. A subscription with a free start needs kind: trial.`;
    return refuse(409, 'invoice_not_payable', message, 'invoice_id');
  }
  return { ok: true, value: money(amountRemaining, currency) };
}

/** Refuses a sum that the invoice does not ask for: Crossbill could not mark the invoice with it. Null: they agree. */
export function refuseDifference(invoiceId: string, asked: Money, due: Money, field: SumField): Refusal | null {
  if (sameMoney(asked, due)) return null;
  const sums = `The shopper would pay ${showMoney(asked)}, and invoice ${invoiceId} asks for ${showMoney(due)}`;
  const how =
    field === 'amount'
      ? 'Leave amount out to ask for what the invoice asks for.'
      : 'Calculate with the tax in the price (taxBehavior INCLUSIVE), or put the same tax on the invoice.';
  return refuse(409, 'amount_differs_from_invoice', `${sums}. ${how}`, field);
}

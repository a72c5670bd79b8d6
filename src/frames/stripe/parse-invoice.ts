// Parses an invoice in a reply, and its payments.
import { parseInvoice } from '../../shared/domain/events/stripe-event.js';
import { type InvoiceFacts, type InvoicePaymentFacts } from '../../shared/domain/ports/billing-platform.js';
import { type ShownInvoice } from '../../shared/domain/ports/billing-reader.js';
import { idOf, isObject, minorOf, partOf, textOf } from '@crossbill/mor/read.js';
import { isNamed } from './amounts.js';

/** Parses an invoice. Null if the object is no invoice, or lacks facts for a decision about money. */
export function invoiceOf(object: unknown): InvoiceFacts | null {
  if (!isObject(object) || !isNamed(object, 'invoice')) return null;
  const parsed = parseInvoice(object);
  return parsed.ok ? parsed.invoice : null;
}

/** Parses an InvoicePayment of any type. Null: the object is no InvoicePayment. */
export function parseInvoicePayment(object: unknown): InvoicePaymentFacts | null {
  if (!isObject(object) || !isNamed(object, 'invoice_payment')) return null;
  const status = textOf(object['status']);
  if (status === null) return null;
  const payment = partOf(object['payment']);
  const byPlatform = idOf(payment['payment_intent']) !== null || idOf(payment['charge']) !== null;
  const paymentRecordId = idOf(payment['payment_record']);
  return { paymentRecordId, byPlatform, status, amountPaid: minorOf(object['amount_paid']) };
}

/** The payments inside an invoice read with `expand: ['payments']`. Null if the list is incomplete. */
export function paymentsWithin(invoice: unknown): readonly InvoicePaymentFacts[] | null {
  const list = partOf(partOf(invoice)['payments']);
  const data = list['data'];
  if (!Array.isArray(data) || list['has_more'] === true) return null;
  const payments: InvoicePaymentFacts[] = [];
  for (const item of data) {
    const payment = parseInvoicePayment(item);
    if (payment === null) return null;
    payments.push(payment);
  }
  return payments;
}

/**
 * Parses an invoice with everything people may have changed by hand. Null in the same cases as `invoiceOf`. A missing
 * field means nobody changed it.
 */
export function shownInvoiceOf(object: unknown): ShownInvoice | null {
  const invoice = invoiceOf(object);
  if (invoice === null) return null;
  const { amount_overpaid: overpaid, post_payment_credit_notes_amount: credited } = partOf(object);
  return {
    ...invoice,
    payments: paymentsWithin(object),
    amountOverpaid: minorOf(overpaid) ?? 0n,
    creditedAfterPayment: minorOf(credited) ?? 0n,
  };
}

// Looks for proof of a change in Stripe's own reply. A 2xx with the object counts, unless the object contradicts the
// change.
import { isEnded } from '../../shared/domain/ports/billing-reader.js';
import { mayBeOneName } from '../../shared/domain/payment-name.js';
import { type Money } from '../../shared/domain/money.js';
import { type BillingReply, type BillingCall } from '../../shared/domain/ports/billing-platform.js';
import { idOf, type JsonObject, minorOf, partOf, textOf } from '@crossbill/mor/read.js';
import { amountOf, isNamed } from './amounts.js';
import { invoiceOf, paymentsWithin } from './parse-invoice.js';

/** Returns the reply in our form. Null: the reply shows another object, another amount, or no effect. */
export function readReply(asked: BillingCall, object: JsonObject): BillingReply | null {
  switch (asked.kind) {
    case 'report_payment': {
      const paymentRecordId = isNamed(object, 'payment_record') ? idOf(object['id']) : null;
      const requested = object['amount_requested'] ?? object['amount'];
      if (paymentRecordId === null || !isSame(requested, asked.amount)) return null;
      return { kind: asked.kind, paymentRecordId };
    }
    case 'report_refund': {
      const paymentRecordId = isNamed(object, 'payment_record') ? idOf(object['id']) : null;
      const refunded = object['amount_refunded'];
      if (paymentRecordId !== asked.paymentRecordId) return null;
      if (isGiven(refunded) && (amountOf(refunded)?.minor ?? 0n) < asked.amount.minor) return null;
      return { kind: asked.kind, paymentRecordId };
    }
    case 'issue_credit_note': {
      const creditNoteId = isNamed(object, 'credit_note') ? idOf(object['id']) : null;
      const { invoice, amount } = object;
      if (creditNoteId === null || (isGiven(invoice) && idOf(invoice) !== asked.invoiceId)) return null;
      return isGiven(amount) && minorOf(amount) !== asked.amount.minor ? null : { kind: asked.kind, creditNoteId };
    }
    case 'cancel_subscription': {
      const { id, status } = object;
      if (!isNamed(object, 'subscription') || idOf(id) !== asked.subscriptionId || !isEnded(textOf(status)))
        return null;
      return { kind: asked.kind, subscriptionId: asked.subscriptionId };
    }
    default: {
      const invoice = invoiceOf(object);
      if (invoice?.invoiceId !== asked.invoiceId) return null;
      return shows(asked, object) || suffices(asked, object) ? { kind: asked.kind, invoice } : null;
    }
  }
}

export type InvoiceCall = Extract<
  BillingCall,
  { kind: 'finalize_invoice' | 'attach_payment' | 'set_reference' | 'pay_out_of_band' | 'mark_uncollectible' }
>;

/**
 * True if Crossbill takes the 2xx reply for success. Such a reply does not show the effect, but nothing in it denies
 * the effect.
 */
function suffices(asked: InvoiceCall, invoice: JsonObject): boolean {
  if (asked.kind === 'attach_payment') return !isGiven(invoice['payments']) && invoice['status'] === 'paid';
  return asked.kind === 'set_reference' && !isGiven(invoice['metadata']);
}

function isGiven(value: unknown): boolean {
  return value !== undefined && value !== null;
}

/** True unless the reply shows another amount or currency. A missing amount contradicts nothing. */
function isSame(given: unknown, asked: Money): boolean {
  if (!isGiven(given)) return true;
  const amount = amountOf(given);
  return amount?.minor === asked.minor && amount.currency === asked.currency;
}

/**
 * True if the invoice in Stripe's latest reply shows the effect. For `attach_payment` the invoice needs its expanded
 * payments.
 */
export function shows(asked: InvoiceCall, invoice: JsonObject): boolean {
  switch (asked.kind) {
    case 'finalize_invoice':
      return invoice['status'] !== 'draft';
    case 'pay_out_of_band':
      return invoice['status'] === 'paid';
    case 'mark_uncollectible':
      return invoice['status'] === 'uncollectible';
    case 'set_reference': {
      const metadata = partOf(invoice['metadata']);
      const name = metadata['mor_payment_id'];
      return (
        typeof name === 'string' && mayBeOneName(name, asked.paymentId) && metadata['mor_charge_id'] === asked.reference
      );
    }
    case 'attach_payment':
      return (paymentsWithin(invoice) ?? []).some(
        (payment) => payment.paymentRecordId === asked.paymentRecordId && payment.status !== 'canceled',
      );
  }
}

// Encodes the exact requests to Stripe. Pure: the same call gives the same bytes, at any time and in any process.
import { type Stripe } from 'stripe';
import { MAX_MINOR, type Money } from '../../shared/domain/money.js';
import { type BillingCall } from '../../shared/domain/ports/billing-platform.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';

/** The name on the payment record if the merchant has no custom payment method type in the Dashboard. */
const DISPLAY_NAME = 'Merchant of Record';

/**
 * Encodes a call as method, path and form, with the fields in a fixed order. `customType`: the merchant's `cpmt_…`, or
 * null. Throws RangeError for an amount outside 1 to 2^53 - 1.
 */
export function encodeCall(call: BillingCall, customType: string | null): WireRequest {
  switch (call.kind) {
    case 'finalize_invoice':
      // auto_advance off: Stripe must not start to collect the invoice (Stripe docs, "Automatic advancement").
      return post(`/v1/invoices/${segment(call.invoiceId)}/finalize`, {
        auto_advance: false,
      } satisfies Stripe.InvoiceFinalizeInvoiceParams);
    case 'report_payment': {
      const guaranteedAt = seconds(call.guaranteedAt);
      return post('/v1/payment_records/report_payment', {
        amount_requested: amount(call.amount),
        initiated_at: Math.min(seconds(call.initiatedAt), guaranteedAt), // a payment cannot end before it began
        payment_method_details: {
          type: 'custom',
          custom: customType === null ? { display_name: DISPLAY_NAME } : { type: customType },
        },
        outcome: 'guaranteed',
        guaranteed: { guaranteed_at: guaranteedAt },
        processor_details: { type: 'custom', custom: { payment_reference: call.reference } },
        customer_details: { customer: call.customerId },
        customer_presence: call.presence,
        metadata: { crossbill: '1', payment_id: call.paymentId, invoice_id: call.invoiceId },
      } satisfies Stripe.PaymentRecordReportPaymentParams);
    }
    case 'attach_payment':
      // With `expand` the reply shows the payments and proves the attachment, so Crossbill needs no further read.
      return post(`/v1/invoices/${segment(call.invoiceId)}/attach_payment`, {
        payment_record: call.paymentRecordId,
        expand: ['payments'],
      } satisfies Stripe.InvoiceAttachPaymentParams);
    case 'set_reference':
      return post(`/v1/invoices/${segment(call.invoiceId)}`, {
        metadata: { mor_payment_id: call.paymentId, mor_charge_id: call.reference },
      } satisfies Stripe.InvoiceUpdateParams);
    case 'pay_out_of_band':
      return post(`/v1/invoices/${segment(call.invoiceId)}/pay`, {
        paid_out_of_band: true,
      } satisfies Stripe.InvoicePayParams);
    case 'mark_uncollectible':
      return post(`/v1/invoices/${segment(call.invoiceId)}/mark_uncollectible`, {});
    case 'cancel_subscription':
      // Without parameters Stripe creates no invoice and no proration (Stripe's default).
      return { method: 'DELETE', path: `/v1/subscriptions/${segment(call.subscriptionId)}`, body: null };
    case 'report_refund': {
      const refundedAt = seconds(call.refundedAt);
      return post(`/v1/payment_records/${segment(call.paymentRecordId)}/report_refund`, {
        outcome: 'refunded',
        processor_details: { type: 'custom', custom: { refund_reference: call.reference } },
        amount: amount(call.amount),
        initiated_at: refundedAt,
        refunded: { refunded_at: refundedAt },
        metadata: { crossbill: '1', refund_id: call.refundId },
      } satisfies Stripe.PaymentRecordReportRefundParams);
    }
    case 'issue_credit_note': {
      const { value } = amount(call.amount);
      const link: Partial<Stripe.CreditNoteCreateParams> =
        call.refunded === null
          ? { out_of_band_amount: value }
          : {
              refunds: [
                {
                  type: 'payment_record_refund',
                  amount_refunded: value,
                  payment_record_refund: {
                    payment_record: call.refunded.paymentRecordId,
                    refund_group: call.refunded.reference,
                  },
                },
              ],
            };
      // email_type none: the Merchant of Record sends the customer's documents, and Stripe must not send others.
      return post('/v1/credit_notes', {
        invoice: call.invoiceId,
        amount: value,
        email_type: 'none',
        ...link,
        metadata: { crossbill: '1', refund_id: call.refundId, invoice_id: call.invoiceId },
      } satisfies Stripe.CreditNoteCreateParams);
    }
  }
}

function post(path: string, params: object): WireRequest {
  return { method: 'POST', path, body: form(params) };
}

/** Encodes a form as the `stripe` package does: `a[b][0]=c`, with unescaped brackets. */
export function form(params: object): string {
  const fields: string[] = [];
  const add = (name: string, value: unknown): void => {
    if (typeof value === 'object' && value !== null) {
      for (const [key, inner] of Object.entries(value)) add(`${name}[${key}]`, inner);
    } else fields.push(`${escaped(name)}=${escaped(String(value))}`);
  };
  for (const [key, value] of Object.entries(params)) add(key, value);
  return fields.join('&');
}

function escaped(text: string): string {
  const percent = (character: string): string => `%${character.charCodeAt(0).toString(16).toUpperCase()}`;
  return encodeURIComponent(text)
    .replace(/[!'()*]/g, percent)
    .replace(/%5B/g, '[')
    .replace(/%5D/g, ']');
}

/** Encodes an id as a part of a path. Throws RangeError for an empty id, `.` or `..`: they would change the path. */
export function segment(id: string): string {
  if (id === '' || id === '.' || id === '..') throw new RangeError('an id is missing');
  return encodeURIComponent(id);
}

function seconds(time: Date): number {
  const value = Math.floor(time.getTime() / 1000);
  if (!Number.isSafeInteger(value) || value < 0) throw new RangeError('not a time');
  return value;
}

function amount(money: Money): { value: number; currency: string } {
  if (money.minor < 1n || money.minor > MAX_MINOR) throw new RangeError(`not an amount to report: ${money.minor}`);
  return { value: Number(money.minor), currency: money.currency.toLowerCase() };
}

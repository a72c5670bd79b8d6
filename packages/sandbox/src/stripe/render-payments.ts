// Invoice payments, payment records and credit notes in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type CreditNote, type InvoicePayment, type PaymentRecord, amountRefunded } from './model.js';
import { list } from './render.js';

export function renderInvoicePayment(currency: string, paymentRow: InvoicePayment): JsonObject {
  const payment: JsonObject =
    paymentRow.record === null
      ? { type: 'payment_intent', payment_intent: paymentRow.intent }
      : { type: 'payment_record', payment_record: paymentRow.record };
  return {
    id: paymentRow.id,
    object: 'invoice_payment',
    amount_paid: paymentRow.amountPaid,
    amount_requested: paymentRow.amountRequested,
    created: paymentRow.created,
    currency,
    invoice: paymentRow.invoice,
    is_default: paymentRow.record === null,
    livemode: false,
    payment,
    status: paymentRow.status,
    status_transitions: { canceled_at: paymentRow.canceledAt, paid_at: paymentRow.paidAt },
  };
}

export function renderPaymentRecord(paymentRecord: PaymentRecord): JsonObject {
  const money = (value: number): JsonObject => ({ currency: paymentRecord.currency, value });
  const when = (state: PaymentRecord['state']): JsonObject =>
    money(paymentRecord.state === state ? paymentRecord.requested : 0);
  const { customerDetails: c, methodDetails: m } = paymentRecord;
  return {
    id: paymentRecord.id,
    object: 'payment_record',
    amount: money(paymentRecord.requested),
    amount_authorized: when('guaranteed'),
    amount_canceled: when('canceled'),
    amount_failed: when('failed'),
    amount_guaranteed: when('guaranteed'),
    amount_refunded: money(amountRefunded(paymentRecord)),
    amount_requested: money(paymentRecord.requested),
    application: null,
    created: paymentRecord.created,
    customer_details: {
      customer: c['customer'] ?? null,
      email: c['email'] ?? null,
      name: c['name'] ?? null,
      phone: c['phone'] ?? null,
    },
    customer_presence: paymentRecord.presence,
    description: paymentRecord.description,
    latest_payment_attempt_record: paymentRecord.attempt,
    livemode: false,
    metadata: paymentRecord.metadata,
    payment_method_details: {
      billing_details: null,
      custom: { display_name: m.displayName ?? 'Custom', type: m.customType },
      payment_method: m.paymentMethod,
      type: 'custom',
    },
    processor_details: { type: 'custom', custom: { payment_reference: paymentRecord.reference } },
    reported_by: 'self',
    shipping_details: null,
  };
}

export function renderCreditNote(creditNote: CreditNote): JsonObject {
  return {
    id: creditNote.id,
    object: 'credit_note',
    amount: creditNote.amount,
    amount_shipping: 0,
    created: creditNote.created,
    currency: creditNote.currency,
    customer: creditNote.customer,
    customer_account: null,
    customer_balance_transaction: creditNote.balanceEntry,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: creditNote.created,
    invoice: creditNote.invoice,
    lines: list([], `/v1/credit_notes/${creditNote.id}/lines`),
    livemode: false,
    memo: creditNote.memo,
    metadata: creditNote.metadata,
    number: creditNote.number,
    out_of_band_amount: creditNote.outOfBand,
    pdf: `https://invoice.sandbox.invalid/cn/${creditNote.id}/pdf`,
    post_payment_amount: creditNote.postPayment,
    pre_payment_amount: creditNote.prePayment,
    pretax_credit_amounts: [],
    reason: creditNote.reason,
    refunds: creditNote.refunds.map((r) => ({
      amount_refunded: r.amount,
      ...('refund' in r
        ? { payment_record_refund: null, refund: r.refund, type: 'refund' }
        : {
            payment_record_refund: { payment_record: r.record, refund_group: r.group },
            refund: null,
            type: 'payment_record_refund',
          }),
    })),
    shipping_cost: null,
    status: creditNote.status,
    subtotal: creditNote.amount,
    subtotal_excluding_tax: creditNote.amount,
    total: creditNote.amount,
    total_excluding_tax: creditNote.amount,
    total_taxes: [],
    type: creditNote.prePayment > 0 ? (creditNote.postPayment > 0 ? 'mixed' : 'pre_payment') : 'post_payment',
    voided_at: creditNote.voidedAt,
  };
}

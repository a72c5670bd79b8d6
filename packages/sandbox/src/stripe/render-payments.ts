// Invoice payments, payment records and credit notes in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type CreditNote, type InvoicePayment, type PaymentRecord, amountRefunded } from './model.js';
import { list } from './render.js';

export function renderInvoicePayment(currency: string, p: InvoicePayment): JsonObject {
  const payment: JsonObject =
    p.record === null
      ? { type: 'payment_intent', payment_intent: p.intent }
      : { type: 'payment_record', payment_record: p.record };
  return {
    id: p.id,
    object: 'invoice_payment',
    amount_paid: p.amountPaid,
    amount_requested: p.amountRequested,
    created: p.created,
    currency,
    invoice: p.invoice,
    is_default: p.record === null,
    livemode: false,
    payment,
    status: p.status,
    status_transitions: { canceled_at: p.canceledAt, paid_at: p.paidAt },
  };
}

export function renderPaymentRecord(r: PaymentRecord): JsonObject {
  const money = (value: number): JsonObject => ({ currency: r.currency, value });
  const when = (state: PaymentRecord['state']): JsonObject => money(r.state === state ? r.requested : 0);
  const { customerDetails: c, methodDetails: m } = r;
  return {
    id: r.id,
    object: 'payment_record',
    amount: money(r.requested),
    amount_authorized: when('guaranteed'),
    amount_canceled: when('canceled'),
    amount_failed: when('failed'),
    amount_guaranteed: when('guaranteed'),
    amount_refunded: money(amountRefunded(r)),
    amount_requested: money(r.requested),
    application: null,
    created: r.created,
    customer_details: {
      customer: c['customer'] ?? null,
      email: c['email'] ?? null,
      name: c['name'] ?? null,
      phone: c['phone'] ?? null,
    },
    customer_presence: r.presence,
    description: r.description,
    latest_payment_attempt_record: r.attempt,
    livemode: false,
    metadata: r.metadata,
    payment_method_details: {
      billing_details: null,
      custom: { display_name: m.displayName ?? 'Custom', type: m.customType },
      payment_method: m.paymentMethod,
      type: 'custom',
    },
    processor_details: { type: 'custom', custom: { payment_reference: r.reference } },
    reported_by: 'self',
    shipping_details: null,
  };
}

export function renderCreditNote(n: CreditNote): JsonObject {
  return {
    id: n.id,
    object: 'credit_note',
    amount: n.amount,
    amount_shipping: 0,
    created: n.created,
    currency: n.currency,
    customer: n.customer,
    customer_account: null,
    customer_balance_transaction: n.balanceEntry,
    discount_amount: 0,
    discount_amounts: [],
    effective_at: n.created,
    invoice: n.invoice,
    lines: list([], `/v1/credit_notes/${n.id}/lines`),
    livemode: false,
    memo: n.memo,
    metadata: n.metadata,
    number: n.number,
    out_of_band_amount: n.outOfBand,
    pdf: `https://invoice.sandbox.invalid/cn/${n.id}/pdf`,
    post_payment_amount: n.postPayment,
    pre_payment_amount: n.prePayment,
    pretax_credit_amounts: [],
    reason: n.reason,
    refunds: n.refunds.map((r) => ({
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
    status: n.status,
    subtotal: n.amount,
    subtotal_excluding_tax: n.amount,
    total: n.amount,
    total_excluding_tax: n.amount,
    total_taxes: [],
    type: n.prePayment > 0 ? (n.postPayment > 0 ? 'mixed' : 'pre_payment') : 'post_payment',
    voided_at: n.voidedAt,
  };
}

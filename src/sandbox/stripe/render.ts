// How the Stripe side's objects look on the wire, in the shape of API version 2026-10-28.endive.
import { type JsonObject } from '../kernel/json.js';
import {
  type BalanceEntry,
  type CreditNote,
  type Customer,
  type Invoice,
  type InvoicePayment,
  type Line,
  type PaymentMethod,
  type PaymentRecord,
  type Price,
  type Product,
  amountDue,
  amountOverpaid,
  amountPaid,
  amountRefunded,
  amountRemaining,
  balanceOf,
  invoiceTotal,
} from './model.js';

export const API_VERSION = '2026-10-28.endive';

export function list(data: JsonObject[], url: string, hasMore = false): JsonObject {
  return { object: 'list', data, has_more: hasMore, url };
}

export function renderCustomer(c: Customer): JsonObject {
  if (c.deleted) return { id: c.id, object: 'customer', deleted: true };
  return {
    id: c.id,
    object: 'customer',
    address: c.address,
    balance: c.balance,
    created: c.created,
    currency: c.currency,
    default_source: c.defaultSource,
    delinquent: false,
    description: c.description,
    email: c.email,
    invoice_settings: {
      custom_fields: null,
      default_payment_method: c.defaultPaymentMethod,
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: c.metadata,
    name: c.name,
    phone: c.phone,
    shipping: null,
    tax_exempt: 'none',
    test_clock: null,
  };
}

export function renderBalanceEntry(e: BalanceEntry): JsonObject {
  return {
    id: e.id,
    object: 'customer_balance_transaction',
    amount: e.amount,
    checkout_session: null,
    created: e.created,
    credit_note: e.creditNote,
    currency: e.currency,
    customer: e.customer,
    customer_account: null,
    description: e.description,
    ending_balance: e.endingBalance,
    invoice: e.invoice,
    livemode: false,
    metadata: e.metadata,
    type: e.type,
  };
}

export function renderProduct(p: Product): JsonObject {
  return {
    id: p.id,
    object: 'product',
    active: true,
    created: p.created,
    livemode: false,
    metadata: p.metadata,
    name: p.name,
  };
}

export function renderPrice(p: Price): JsonObject {
  return {
    id: p.id,
    object: 'price',
    active: true,
    billing_scheme: 'per_unit',
    created: p.created,
    currency: p.currency,
    livemode: false,
    metadata: p.metadata,
    product: p.product,
    recurring:
      p.recurring === null
        ? null
        : { interval: p.recurring.interval, interval_count: p.recurring.count, meter: null, usage_type: 'licensed' },
    type: p.recurring === null ? 'one_time' : 'recurring',
    unit_amount: p.unitAmount,
    unit_amount_decimal: String(p.unitAmount),
  };
}

export function renderPaymentMethod(m: PaymentMethod): JsonObject {
  return {
    id: m.id,
    object: 'payment_method',
    created: m.created,
    customer: m.customer,
    livemode: false,
    metadata: {},
    type: m.type,
    ...(m.customType === null ? {} : { custom: { type: m.customType, display_name: null, logo: null } }),
  };
}

export function renderLine(line: Line, invoice: Invoice): JsonObject {
  const ofSubscription = line.subscriptionItem !== null;
  return {
    id: line.id,
    object: 'line_item',
    amount: line.amount,
    currency: invoice.currency,
    description: line.description,
    discount_amounts: [],
    discountable: true,
    discounts: [],
    invoice: invoice.id,
    livemode: false,
    metadata: {},
    parent: {
      invoice_item_details: ofSubscription
        ? null
        : { invoice_item: line.invoiceItem, proration: false, proration_details: null, subscription: null },
      subscription_item_details: ofSubscription
        ? {
            invoice_item: null,
            proration: false,
            proration_details: { credited_items: null },
            subscription: invoice.subscription,
            subscription_item: line.subscriptionItem,
          }
        : null,
      type: ofSubscription ? 'subscription_item_details' : 'invoice_item_details',
    },
    period: { start: line.periodStart, end: line.periodEnd },
    pretax_credit_amounts: [],
    pricing:
      line.price === null
        ? null
        : {
            price_details: { price: line.price.id, product: line.price.product },
            type: 'price_details',
            unit_amount_decimal: String(line.price.unitAmount),
          },
    quantity: line.quantity,
    taxes: [],
  };
}

/** `expand` holds the names that were asked for: `payments`, `amount_paid_off_stripe`, `customer`. Events expand nothing. */
export function renderInvoice(
  invoice: Invoice,
  finalizesAt: number | null,
  subscriptionMetadata: Record<string, string>,
  expand: ReadonlySet<string> = new Set(),
): JsonObject {
  const total = invoiceTotal(invoice);
  const { owner: customer } = invoice;
  const balance = balanceOf(invoice);
  const body: JsonObject = {
    id: invoice.id,
    object: 'invoice',
    account_country: 'US',
    account_name: 'Sandbox merchant',
    account_tax_ids: null,
    amount_due: amountDue(invoice),
    amount_overpaid: amountOverpaid(invoice),
    amount_paid: amountPaid(invoice),
    amount_remaining: amountRemaining(invoice),
    amount_shipping: 0,
    application: null,
    attempt_count: invoice.attemptCount,
    attempted: invoice.attemptCount > 0,
    auto_advance: invoice.autoAdvance,
    automatic_tax: { disabled_reason: null, enabled: false, liability: null, provider: null, status: null },
    automatically_finalizes_at: invoice.status === 'draft' && invoice.autoAdvance ? finalizesAt : null,
    billing_reason: invoice.billingReason,
    collection_method: invoice.collectionMethod,
    created: invoice.created,
    currency: invoice.currency,
    custom_fields: null,
    customer: expand.has('customer') ? renderCustomer(customer) : customer.id,
    customer_account: null,
    customer_address: customer.address,
    customer_email: customer.email,
    customer_name: customer.name,
    customer_phone: customer.phone,
    customer_shipping: null,
    customer_tax_exempt: 'none',
    customer_tax_ids: [],
    default_payment_method: invoice.defaultPaymentMethod,
    default_source: null,
    default_tax_rates: [],
    description: invoice.description,
    discounts: [],
    due_date: invoice.dueDate,
    effective_at: invoice.finalizedAt,
    ending_balance: invoice.balance === null ? null : balance.starting + balance.applied,
    footer: null,
    from_invoice: null,
    hosted_invoice_url: invoice.finalizedAt === null ? null : `https://invoice.sandbox.invalid/i/${invoice.id}`,
    invoice_pdf: invoice.finalizedAt === null ? null : `https://invoice.sandbox.invalid/i/${invoice.id}/pdf`,
    issuer: { type: 'self' },
    last_finalization_error:
      invoice.finalizationError === null
        ? null
        : { code: 'customer_tax_location_invalid', message: invoice.finalizationError, type: 'invalid_request_error' },
    latest_revision: null,
    lines: {
      ...list(
        invoice.lines.map((line) => renderLine(line, invoice)),
        `/v1/invoices/${invoice.id}/lines`,
      ),
      total_count: invoice.lines.length,
    },
    livemode: false,
    metadata: invoice.metadata,
    next_payment_attempt: nextAttempt(invoice, finalizesAt),
    number: invoice.number,
    on_behalf_of: null,
    parent:
      invoice.subscription === null
        ? null
        : {
            quote_details: null,
            subscription_details: { metadata: subscriptionMetadata, subscription: invoice.subscription },
            type: 'subscription_details',
          },
    payment_settings: { default_mandate: null, payment_method_options: null, payment_method_types: null },
    period_end: invoice.periodEnd,
    period_start: invoice.periodStart,
    post_payment_credit_notes_amount: invoice.postPaymentCredit,
    pre_payment_credit_notes_amount: invoice.prePaymentCredit,
    receipt_number: null,
    rendering: null,
    shipping_cost: null,
    shipping_details: null,
    starting_balance: balance.starting,
    statement_descriptor: null,
    status: invoice.status,
    status_transitions: {
      finalized_at: invoice.finalizedAt,
      marked_uncollectible_at: invoice.uncollectibleAt,
      paid_at: invoice.paidAt,
      voided_at: invoice.voidedAt,
    },
    subtotal: total,
    subtotal_excluding_tax: total,
    test_clock: null,
    total,
    total_discount_amounts: [],
    total_excluding_tax: total,
    total_pretax_credit_amounts: [],
    total_taxes: [],
    webhooks_delivered_at: invoice.webhooksDeliveredAt,
  };
  if (expand.has('payments')) {
    body['payments'] = list(
      invoice.payments.map(renderInvoicePayment.bind(null, invoice.currency)),
      '/v1/invoice_payments',
    );
  }
  // Stripe changelog, 2026-05-27: only on request, never in events.
  if (expand.has('amount_paid_off_stripe')) body['amount_paid_off_stripe'] = amountPaid(invoice);
  return body;
}

/** Of a draft when it finalizes, of an open one when Stripe tries again; null where nothing is charged automatically. */
function nextAttempt(invoice: Invoice, finalizesAt: number | null): number | null {
  if (!invoice.autoAdvance || invoice.collectionMethod !== 'charge_automatically') return null;
  return invoice.status === 'draft' ? finalizesAt : invoice.status === 'open' ? invoice.nextAttempt : null;
}

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

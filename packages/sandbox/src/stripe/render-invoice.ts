// Invoices and their lines in the format of API version 2026-10-28.endive.
import { type JsonObject } from '../kernel/json.js';
import {
  type Invoice,
  type Line,
  amountDue,
  amountOverpaid,
  amountPaid,
  amountRemaining,
  balanceOf,
  invoiceTotal,
} from './model.js';
import { list } from './render.js';
import { renderCustomer } from './render-customer.js';
import { renderInvoicePayment } from './render-payments.js';

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
    quantity_decimal: String(line.quantity),
    subscription: invoice.subscription,
    subtotal: line.amount,
    taxes: [],
  };
}

/** `expand`: the names in the request (`payments`, `amount_paid_off_stripe`, `customer`). Events expand nothing. */
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
    test_clock: invoice.owner.testClock,
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
  // Stripe changelog, 2026-05-27: Stripe shows this member only if the request expands it, never in events.
  if (expand.has('amount_paid_off_stripe')) body['amount_paid_off_stripe'] = amountPaid(invoice);
  return body;
}

/** When Stripe finalizes a draft, or next tries to collect an open invoice. Null without automatic charges. */
function nextAttempt(invoice: Invoice, finalizesAt: number | null): number | null {
  if (!invoice.autoAdvance || invoice.collectionMethod !== 'charge_automatically') return null;
  return invoice.status === 'draft' ? finalizesAt : invoice.status === 'open' ? invoice.nextAttempt : null;
}

// Parses payment records, credit notes, events, customers, endpoints and the account. Each function returns null for an
// object of another kind.
import { parseCurrency } from '../../shared/domain/money.js';
import {
  type BalanceEntryFacts,
  type BillingAccountFacts,
  type BillingEventFacts,
  type CreditNoteFacts,
  type CustomerFacts,
  type PaymentRecordFacts,
  type WebhookEndpointFacts,
} from '../../shared/domain/ports/billing-reader.js';
import { idOf, isObject, type JsonObject, minorOf, partOf, textOf, textsOf, timeOf } from '@crossbill/mor/read.js';
import { amountOf } from './amounts.js';

export function parsePaymentRecord(object: unknown): PaymentRecordFacts | null {
  if (!isObject(object) || object['object'] !== 'payment_record') return null;
  const paymentRecordId = idOf(object['id']);
  const requested = amountOf(object['amount_requested'] ?? object['amount']);
  if (paymentRecordId === null || requested === null) return null;
  const metadata = partOf(object['metadata']);
  return {
    paymentRecordId,
    createdAt: timeOf(object['created']),
    currency: requested.currency,
    amountRequested: requested.minor,
    amountGuaranteed: amountOf(object['amount_guaranteed'])?.minor ?? 0n,
    amountRefunded: amountOf(object['amount_refunded'])?.minor ?? 0n,
    reference: textOf(partOf(partOf(object['processor_details'])['custom'])['payment_reference']),
    paymentId: textOf(metadata['payment_id']),
    invoiceId: textOf(metadata['invoice_id']),
    lastRefundId: textOf(metadata['refund_id']),
  };
}

export function parseCreditNote(object: unknown): CreditNoteFacts | null {
  if (!isObject(object) || object['object'] !== 'credit_note') return null;
  const creditNoteId = idOf(object['id']);
  const status = textOf(object['status']);
  const amount = minorOf(object['amount']);
  const currency = parseCurrency(object['currency']);
  if (creditNoteId === null || status === null || amount === null || currency === null) return null;
  const refunds: readonly unknown[] = Array.isArray(object['refunds']) ? object['refunds'] : [];
  const references = refunds
    .map((refund) => textOf(partOf(partOf(refund)['payment_record_refund'])['refund_group']))
    .filter((reference) => reference !== null);
  const refundId = textOf(partOf(object['metadata'])['refund_id']);
  return {
    creditNoteId,
    invoiceId: idOf(object['invoice']),
    createdAt: timeOf(object['created']),
    status,
    amount,
    currency,
    // Before API version 2025-03-31 Stripe does not show which part of a credit note went back to the customer after
    // the payment. It may be the whole amount.
    afterPayment: minorOf(object['post_payment_amount']) ?? amount,
    toBalance: idOf(object['customer_balance_transaction']) !== null,
    refundId,
    references,
  };
}

export function parseEvent(object: unknown): BillingEventFacts | null {
  if (!isObject(object) || object['object'] !== 'event') return null;
  const eventId = idOf(object['id']);
  const type = textOf(object['type']);
  const createdAt = timeOf(object['created']);
  if (eventId === null || type === null || createdAt === null) return null;
  const body = bytesOf(object);
  if (body === null) return null;
  const data = partOf(object['data']);
  const about = partOf(data['object']);
  const before = data['previous_attributes'];
  return {
    eventId,
    type,
    createdAt,
    about: { id: idOf(about['id']), createdAt: timeOf(about['created']) },
    movesBalance: type === 'customer.updated' && namesBalance(before),
    body,
  };
}

/**
 * True if the event may have changed a balance. `balance` is in the customer's own currency, `invoice_credit_balance`
 * covers all currencies (types of the `stripe` package, `Customer`). An event without a list of changes may have
 * changed anything.
 */
function namesBalance(before: unknown): boolean {
  return !isObject(before) || 'balance' in before || 'invoice_credit_balance' in before;
}

/** The bytes of an object. Null: the object nests too deep to write again. */
function bytesOf(object: JsonObject): Buffer | null {
  try {
    return Buffer.from(JSON.stringify(object));
  } catch {
    return null;
  }
}

export function parseBalanceEntry(object: unknown): BalanceEntryFacts | null {
  if (!isObject(object) || object['object'] !== 'customer_balance_transaction') return null;
  const entryId = idOf(object['id']);
  const amount = minorOf(object['amount']);
  const currency = parseCurrency(object['currency']);
  if (entryId === null || amount === null || currency === null) return null;
  // By hand a person can make only an `adjustment`. Stripe makes entries of all other types itself, or shows them
  // already in a credit note or an invoice.
  return { entryId, invoiceId: idOf(object['invoice']), byHand: object['type'] === 'adjustment', amount, currency };
}

export function parseCustomer(object: unknown): CustomerFacts | null {
  if (!isObject(object) || object['object'] !== 'customer') return null;
  // Stripe looks at the invoice settings first, then at the older default source (Stripe docs, "Subscription payment
  // methods").
  const method = partOf(object['invoice_settings'])['default_payment_method'] ?? object['default_source'];
  const customerId = idOf(object['id']);
  if (customerId === null) return null;
  return {
    customerId,
    name: textOf(object['name']),
    email: textOf(object['email']),
    defaultPaymentMethodId: idOf(method),
    metadata: textsOf(partOf(object['metadata'])),
  };
}

export function parseWebhookEndpoint(object: unknown): WebhookEndpointFacts | null {
  if (!isObject(object) || object['object'] !== 'webhook_endpoint') return null;
  const endpointId = idOf(object['id']);
  const url = textOf(object['url']);
  const events: unknown = object['enabled_events'];
  if (endpointId === null || url === null || !Array.isArray(events)) return null;
  return {
    endpointId,
    url,
    enabled: object['status'] === 'enabled',
    apiVersion: textOf(object['api_version']),
    events: events.map(textOf).filter((event) => event !== null),
  };
}

export function parseAccount(object: unknown): BillingAccountFacts | null {
  if (!isObject(object) || object['object'] !== 'account') return null;
  const accountId = idOf(object['id']);
  if (accountId === null) return null;
  return { accountId, country: textOf(object['country']) };
}

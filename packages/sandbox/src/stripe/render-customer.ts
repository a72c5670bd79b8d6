// Customers, their balance and their payment methods in the API's format.
import { type JsonObject } from '../kernel/json.js';
import { type BalanceEntry, type Customer, type PaymentMethod } from './model.js';

type Methods = { readonly paymentMethods: ReadonlyMap<string, PaymentMethod> };

/** A payment method as its id, or as an object if the request expands it. */
export function expandedMethod(
  id: string | null,
  state: Methods | null,
  expand: ReadonlySet<string>,
  name: string,
): JsonObject | string | null {
  const method = expand.has(name) ? state?.paymentMethods.get(id ?? '') : undefined;
  return method === undefined ? id : renderPaymentMethod(method);
}

export function renderCustomer(
  customer: Customer,
  state: Methods | null = null,
  expand: ReadonlySet<string> = new Set(),
): JsonObject {
  if (customer.deleted) return { id: customer.id, object: 'customer', deleted: true };
  return {
    id: customer.id,
    object: 'customer',
    address: customer.address,
    balance: customer.balance,
    created: customer.created,
    currency: customer.currency,
    customer_account: null,
    default_source: customer.defaultSource,
    delinquent: false,
    description: customer.description,
    discount: null,
    email: customer.email,
    invoice_prefix: customer.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: expandedMethod(
        customer.defaultPaymentMethod,
        state,
        expand,
        'invoice_settings.default_payment_method',
      ),
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: customer.metadata,
    name: customer.name,
    next_invoice_sequence: customer.invoicesNumbered + 1,
    phone: customer.phone,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: customer.testClock,
  };
}

export function renderBalanceEntry(balanceEntry: BalanceEntry): JsonObject {
  return {
    id: balanceEntry.id,
    object: 'customer_balance_transaction',
    amount: balanceEntry.amount,
    checkout_session: null,
    created: balanceEntry.created,
    credit_note: balanceEntry.creditNote,
    currency: balanceEntry.currency,
    customer: balanceEntry.customer,
    customer_account: null,
    description: balanceEntry.description,
    ending_balance: balanceEntry.endingBalance,
    invoice: balanceEntry.invoice,
    livemode: false,
    metadata: balanceEntry.metadata,
    type: balanceEntry.type,
  };
}

export function renderPaymentMethod(method: PaymentMethod): JsonObject {
  return {
    id: method.id,
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    created: method.created,
    customer: method.customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: method.type,
    ...(method.customType === null ? {} : { custom: { type: method.customType, display_name: null, logo: null } }),
  };
}

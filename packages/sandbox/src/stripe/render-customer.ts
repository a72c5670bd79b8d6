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
  c: Customer,
  state: Methods | null = null,
  expand: ReadonlySet<string> = new Set(),
): JsonObject {
  if (c.deleted) return { id: c.id, object: 'customer', deleted: true };
  return {
    id: c.id,
    object: 'customer',
    address: c.address,
    balance: c.balance,
    created: c.created,
    currency: c.currency,
    customer_account: null,
    default_source: c.defaultSource,
    delinquent: false,
    description: c.description,
    discount: null,
    email: c.email,
    invoice_prefix: c.id.slice(-8).toUpperCase(),
    invoice_settings: {
      custom_fields: null,
      default_payment_method: expandedMethod(
        c.defaultPaymentMethod,
        state,
        expand,
        'invoice_settings.default_payment_method',
      ),
      footer: null,
      rendering_options: null,
    },
    livemode: false,
    metadata: c.metadata,
    name: c.name,
    next_invoice_sequence: c.invoicesNumbered + 1,
    phone: c.phone,
    preferred_locales: [],
    shipping: null,
    tax_exempt: 'none',
    test_clock: c.testClock,
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

export function renderPaymentMethod(m: PaymentMethod): JsonObject {
  return {
    id: m.id,
    object: 'payment_method',
    allow_redisplay: 'unspecified',
    billing_details: { address: null, email: null, name: null, phone: null, tax_id: null },
    created: m.created,
    customer: m.customer,
    customer_account: null,
    livemode: false,
    metadata: {},
    type: m.type,
    ...(m.customType === null ? {} : { custom: { type: m.customType, display_name: null, logo: null } }),
  };
}

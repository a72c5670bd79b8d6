// Stripe's objects as its documentation shows them, with the members Crossbill reads.
import { isObject } from '@crossbill/mor/read.js';
import { wire } from './examples.js';

/** The object inside a webhook event. */
function objectOf(event: unknown): unknown {
  const data = isObject(event) ? event['data'] : null;
  return isObject(data) ? data['object'] : null;
}

const amount = (value: number): object => ({ value, currency: 'eur' });
const method = { id: 'pm_1', object: 'payment_method', type: 'card' };
const payment = {
  id: 'inpay_1',
  object: 'invoice_payment',
  status: 'paid',
  amount_paid: 1000,
  payment: { type: 'payment_record', payment_record: 'pr_1' },
};
const customer = {
  id: 'cus_1',
  object: 'customer',
  name: 'Ada',
  email: 'ada@example.com',
  address: { line1: 'Weg 1', city: 'Ulm', postal_code: '89073', country: 'DE' },
  invoice_settings: { default_payment_method: method },
  default_source: null,
  metadata: { billed_by: 'mor' },
};

export const STRIPE_OBJECTS: readonly unknown[] = [
  ...wire('stripe').map(({ value }) => objectOf(value)),
  ...wire('stripe').map(({ value }) => value),
  payment,
  customer,
  {
    ...(objectOf(wire('stripe').at(-1)?.value) as object),
    customer,
    customer_tax_ids: [{ type: 'eu_vat', value: 'DE123' }],
    payments: { data: [payment], has_more: false },
    lines: { data: [{ amount: 1000, quantity: 1, description: 'Plan' }], has_more: false },
    amount_overpaid: 0,
    post_payment_credit_notes_amount: 100,
  },
  {
    id: 'pr_1',
    object: 'payment_record',
    created: 1795348800,
    amount_requested: amount(1000),
    amount_guaranteed: amount(1000),
    amount_refunded: amount(0),
    processor_details: { custom: { payment_reference: 'ch_1' } },
    metadata: { payment_id: 'pay_1', invoice_id: 'in_1', refund_id: 'rfnd_1' },
  },
  {
    id: 'cn_1',
    object: 'credit_note',
    invoice: 'in_1',
    created: 1795348800,
    status: 'issued',
    amount: 100,
    currency: 'eur',
    post_payment_amount: 100,
    customer_balance_transaction: null,
    refunds: [{ payment_record_refund: { refund_group: 'rfnd_1' } }],
    metadata: { refund_id: 'rfnd_1' },
  },
  {
    id: 'cbtxn_1',
    object: 'customer_balance_transaction',
    type: 'adjustment',
    amount: -500,
    currency: 'eur',
    invoice: null,
  },
  {
    id: 'we_1',
    object: 'webhook_endpoint',
    url: 'https://x.example',
    status: 'enabled',
    api_version: null,
    enabled_events: ['*'],
  },
  { id: 'acct_1', object: 'account', country: 'DE' },
  {
    id: 'sub_1',
    object: 'subscription',
    customer,
    created: 1795348800,
    collection_method: 'charge_automatically',
    default_payment_method: method,
    metadata: { billed_by: 'mor' },
  },
];

// The events of Stripe and the MoR in the day benchmark. Their size and shape are real. Each renewal belongs to a
// different customer of the filled database.
import { invoiceObject } from '../events.js';
import { AMOUNT } from './plan.js';

export const invoiceOf = (index: number): string => `in_day${index}`;
/** The payment id of a try. `tries` 0 means the first charge. */
export const paymentOf = (index: number, tries: number): string => `pay_day${index}_${tries}`;
export const customerOf = (index: number): string => `cus_old${index + 1}`;

export type Endpoint = '/webhooks/stripe' | '/webhooks/mor/payments' | '/webhooks/mor/events';
export const HEADERS: Readonly<Record<Endpoint, string>> = {
  '/webhooks/stripe': 'Stripe-Signature',
  '/webhooks/mor/payments': 'Mor-Signature',
  '/webhooks/mor/events': 'Service-Signature',
};

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'uncollectible';
export type Shown = {
  readonly status: InvoiceStatus;
  readonly createdSec: number;
  /** The sum of credit notes after the payment, in minor units. */
  readonly credited: number;
};

// The bench makes these texts before the run. During the run a response then costs only its bytes and their parsing.
const CREATED = '"created":1793491200';
const [OPEN, PAID] = [false, true].map((paid) =>
  JSON.stringify(invoiceObject('NAME', paid)).replaceAll('cus_NAME', 'CUSTOMER').replaceAll('sub_NAME', 'SUBSCRIPTION'),
) as [string, string];

/**
 * @param name the common part of the invoice's ids
 * @param customer the number of a customer in the filled database
 */
export function invoiceText(name: string, customer: number, { status, createdSec, credited }: Shown): string {
  const text = status === 'paid' ? PAID : OPEN.replace('"status":"open"', `"status":"${status}"`);
  return text
    .replaceAll('NAME', name)
    .replaceAll('CUSTOMER', `cus_old${customer}`)
    .replaceAll('SUBSCRIPTION', `sub_old${customer}`)
    .replace(CREATED, `"created":${createdSec},"post_payment_credit_notes_amount":${credited}`);
}

export type InvoiceEvent = 'created' | 'finalized' | 'paid' | 'marked_uncollectible';
const STATUS_IN: Readonly<Record<InvoiceEvent, InvoiceStatus>> = {
  created: 'draft',
  finalized: 'open',
  paid: 'paid',
  marked_uncollectible: 'uncollectible',
};

export const eventIdOf = (type: InvoiceEvent, index: number): string => `evt_day_${type}${index}`;

/** A Stripe event with the invoice at that time. */
export function invoiceEvent(type: InvoiceEvent, index: number, createdSec: number, atSec: number): string {
  const invoice = invoiceText(`day${index}`, index + 1, { status: STATUS_IN[type], createdSec, credited: 0 });
  return `{"id":"${eventIdOf(type, index)}","object":"event","api_version":"2026-10-28.endive","created":${atSec},"data":{"object":${invoice}},"livemode":false,"pending_webhooks":2,"type":"invoice.${type}"}`;
}

const facts = (index: number, tries: number): object => ({
  payment_id: paymentOf(index, tries),
  merchant_invoice_id: invoiceOf(index),
  merchant_customer_id: customerOf(index),
  processor_charge_id: `ch_day${index}_${tries}`,
  processor_payment_intent_id: `pi_day${index}_${tries}`,
  currency: 'eur',
});

function payment(id: string, type: string, object: object): string {
  return JSON.stringify({ id, type, created: Math.floor(Date.now() / 1_000), data: { object } });
}

/** The MoR's verdict on one charge. `decline` null: the charge succeeded. */
export function verdict(index: number, tries: number, decline: 'soft' | 'hard' | null): string {
  const code = decline === 'hard' ? 'stolen_card' : 'insufficient_funds';
  const more = decline === null ? {} : { failure_message: 'The card was declined.', decline_code: code };
  const status = decline === null ? 'succeeded' : 'failed';
  const object = { ...facts(index, tries), amount: AMOUNT, status, ...more };
  return payment(`evt_day_verdict${index}_${tries}`, `payment.${status}`, object);
}

export function refunded(index: number, tries: number, amount: number): string {
  return payment(`evt_day_refund${index}`, 'payment.refunded', {
    ...facts(index, tries),
    amount,
    status: amount === AMOUNT ? 'refunded' : 'partially_refunded',
    refund_id: `rfnd_day${index}`,
    processor_refund_id: `re_day${index}`,
    amount_refunded_total: amount,
  });
}

/** A dispute's event. `outcome` null: the dispute opens. */
export function dispute(index: number, tries: number, outcome: 'won' | 'lost' | null): string {
  const data = { disputeId: `dp_day${index}`, pspReference: `ch_day${index}_${tries}` };
  const dueBy = new Date(Date.now() + 10 * 86_400_000).toISOString();
  const more =
    outcome === null
      ? { evidenceDueBy: dueBy, dashboardUrl: `https://dashboard.example/disputes/${index}` }
      : { outcome: outcome === 'won' ? 'WON' : 'LOST' };
  return JSON.stringify({
    id: `evt_day_dispute${index}_${outcome ?? 'opened'}`,
    type: outcome === null ? 'dispute.action_needed' : 'dispute.outcome',
    created: new Date().toISOString(),
    data: { ...data, ...more },
  });
}

// Events for the measurements: of real size and shape, each with its own id. `load` gets them signed, so it spends no
// time on signatures.
import { createHmac } from 'node:crypto';

export const SECRET = 'bench-secret-0123456789abcdef';

/**
 * An invoice as Stripe shows it, about 3.7 KB. A paid invoice has an attached payment record. `name` is the common part
 * of the ids.
 */
export function invoiceObject(name: string, paid: boolean): object {
  const line = (index: number): object => ({
    id: `il_${name}_${index}`,
    object: 'line_item',
    amount: 2990,
    currency: 'eur',
    description: '1 × Larch Pro (at €29.90 / month)',
    discount_amounts: [],
    discounts: [],
    invoice: `in_${name}`,
    livemode: false,
    metadata: {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: { proration: false, subscription: `sub_${name}`, subscription_item: `si_${name}` },
      type: 'subscription_item_details',
    },
    period: { end: 1796083200, start: 1793491200 },
    pricing: { price_details: { price: 'price_larch', product: 'prod_larch' }, type: 'price_details' },
    quantity: 1,
  });
  const payment = {
    id: `inpay_${name}`,
    object: 'invoice_payment',
    amount_paid: 2990,
    payment: { payment_record: `pr_in_${name}`, type: 'payment_record' },
    status: 'paid',
  };
  return {
    id: `in_${name}`,
    object: 'invoice',
    amount_due: 2990,
    amount_paid: paid ? 2990 : 0,
    amount_remaining: paid ? 0 : 2990,
    billing_reason: 'subscription_cycle',
    collection_method: 'charge_automatically',
    created: 1793491200,
    currency: 'eur',
    customer: `cus_${name}`,
    customer_email: 'ada@example.com',
    lines: { object: 'list', data: [line(1), line(2)], has_more: false, total_count: 2 },
    livemode: false,
    metadata: { order: 'x'.repeat(1_500) },
    parent: { subscription_details: { metadata: {}, subscription: `sub_${name}` }, type: 'subscription_details' },
    ...(paid ? { payments: { object: 'list', data: [payment], has_more: false } } : {}),
    status: paid ? 'paid' : 'open',
    subtotal: 2990,
    total: 2990,
  };
}

/** An `invoice.created` of about 3.9 KB, as Stripe sends it. */
export function invoiceCreated(count: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: `evt_bench${count}`,
      object: 'event',
      api_version: '2026-10-28.endive',
      created: 1793491200,
      data: { object: invoiceObject(`bench${count}`, false) },
      livemode: false,
      pending_webhooks: 2,
      type: 'invoice.created',
    }),
  );
}

/** A `payment.succeeded` (Document 3) for the invoice of `invoiceCreated(n)`. */
export function paymentSucceeded(count: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: `evt_pay_bench${count}`,
      type: 'payment.succeeded',
      created: 1793491260,
      data: {
        object: {
          payment_id: `pay_bench${count}`,
          merchant_invoice_id: `in_bench${count}`,
          merchant_customer_id: `cus_bench${count}`,
          processor_charge_id: `ch_bench${count}`,
          processor_payment_intent_id: `pi_bench${count}`,
          amount: 2990,
          currency: 'eur',
          status: 'succeeded',
        },
      },
    }),
  );
}

/** The bytes of a whole HTTP request. */
export function signedRequest(path: string, header: string, body: Buffer): Buffer {
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex');
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}: t=${t},v1=${v1}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

// Events to measure with: of real size and shape, each with an id of its own, signed beforehand so that the load costs nothing.
import { createHmac } from 'node:crypto';

export const SECRET = 'bench-secret-0123456789abcdef';

/** An `invoice.created` of about 3.9 KB, as Stripe sends it. */
export function invoiceCreated(n: number): Buffer {
  const invoice = `in_bench${n}`;
  const line = (i: number): object => ({
    id: `il_${n}_${i}`,
    object: 'line_item',
    amount: 2990,
    currency: 'eur',
    description: '1 × Larch Pro (at €29.90 / month)',
    discount_amounts: [],
    discounts: [],
    invoice,
    livemode: false,
    metadata: {},
    parent: {
      invoice_item_details: null,
      subscription_item_details: { proration: false, subscription: `sub_bench${n}`, subscription_item: `si_bench${n}` },
      type: 'subscription_item_details',
    },
    period: { end: 1796083200, start: 1793491200 },
    pricing: { price_details: { price: 'price_larch', product: 'prod_larch' }, type: 'price_details' },
    quantity: 1,
    taxes: [],
  });
  return Buffer.from(
    JSON.stringify({
      id: `evt_bench${n}`,
      object: 'event',
      api_version: '2026-10-28.endive',
      created: 1793491200,
      data: {
        object: {
          id: invoice,
          object: 'invoice',
          amount_due: 2990,
          amount_paid: 0,
          amount_remaining: 2990,
          billing_reason: 'subscription_cycle',
          collection_method: 'charge_automatically',
          created: 1793491200,
          currency: 'eur',
          customer: `cus_bench${n}`,
          customer_email: 'ada@example.com',
          lines: { object: 'list', data: [line(1), line(2)], has_more: false, total_count: 2 },
          livemode: false,
          metadata: { order: 'x'.repeat(1_500) },
          parent: {
            subscription_details: { metadata: {}, subscription: `sub_bench${n}` },
            type: 'subscription_details',
          },
          status: 'open',
          subtotal: 2990,
          total: 2990,
        },
      },
      livemode: false,
      pending_webhooks: 2,
      type: 'invoice.created',
    }),
  );
}

/** A `payment.succeeded` of Document 3 for the same invoice. */
export function paymentSucceeded(n: number): Buffer {
  return Buffer.from(
    JSON.stringify({
      id: `evt_pay_bench${n}`,
      type: 'payment.succeeded',
      created: 1793491260,
      data: {
        object: {
          payment_id: `pay_bench${n}`,
          merchant_invoice_id: `in_bench${n}`,
          merchant_customer_id: `cus_bench${n}`,
          processor_charge_id: `ch_bench${n}`,
          processor_payment_intent_id: `pi_bench${n}`,
          amount: 2990,
          currency: 'eur',
          status: 'succeeded',
        },
      },
    }),
  );
}

/** A whole HTTP request as it goes over the wire. */
export function signedRequest(path: string, header: string, body: Buffer): Buffer {
  const t = Math.floor(Date.now() / 1000);
  const v1 = createHmac('sha256', SECRET).update(`${t}.`).update(body).digest('hex');
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${header}: t=${t},v1=${v1}\r\nContent-Length: ${body.length}\r\n\r\n`;
  return Buffer.concat([Buffer.from(head), body]);
}

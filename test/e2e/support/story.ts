// What many tests share: an invoice waiting for its money, the MoR's events about it, and the final state on Stripe.
import { expect } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { type Json, type Reply, type Subscriber, type World } from '../../support/rigs/world.js';

/** The ids of one payment at the MoR. */
export type Paid = {
  readonly paymentId: string;
  readonly chargeId: string;
  readonly intentId: string;
};

/** From now on the MoR receives no events from Stripe, so the test plays the MoR. */
export async function deafMor(world: World): Promise<void> {
  await world.control('POST', '/mor/hearing', { direct: false });
}

/** A subscriber's first renewal, finalized and unpaid. Needs a deaf MoR or a failing card. */
export async function openRenewal(world: World, subscriber: Subscriber, amount: number | null = null): Promise<string> {
  const invoiceId = await draftRenewal(world, subscriber, amount);
  await world.stripe.invoices.finalizeInvoice(invoiceId, { auto_advance: false });
  return invoiceId;
}

export async function draftRenewal(
  world: World,
  subscriber: Subscriber,
  amount: number | null = null,
): Promise<string> {
  const renewed = await world.control('POST', '/stripe/renew', {
    subscription: subscriber.subscriptionId,
    ...(amount === null ? {} : { amount }),
  });
  if (typeof renewed.body['id'] !== 'string') throw new Error(`renew: ${JSON.stringify(renewed.body)}`);
  return renewed.body['id'];
}

/** A paid renewal of this subscriber, or of a new one, after its draft hour. */
export async function paidRenewal(
  world: World,
  known?: Subscriber,
): Promise<Subscriber & { readonly invoiceId: string; readonly paymentId: string; readonly payment: Json }> {
  const s = known ?? (await world.paidSubscriber());
  const invoiceId = await world.renew(s.subscriptionId);
  const seen = await world.shows(`/v1/invoices/${invoiceId}`, (i) => ['held', 'paid'].includes(String(i['status'])));
  if (seen['status'] === 'held') await world.advance(3_700);
  const [payment = {}] = (await world.invoice(invoiceId, 'paid'))['payments'] as Json[];
  return { ...s, invoiceId, payment, paymentId: String(payment['id']) };
}

export function newPaid(): Paid {
  const tail = randomUUID().replaceAll('-', '').slice(0, 20);
  return { paymentId: `pay_${tail}`, chargeId: `ch_${tail}`, intentId: `pi_${tail}` };
}

/** A payment that succeeded in the MoR's own books, where it can be refunded. Sends no event. */
export function takenByMor(
  world: World,
  subscriber: Subscriber,
  invoiceId: string,
  amount: number,
  currency = 'eur',
): Paid {
  const { cards, mor } = world.sandbox;
  const morCustomerId = mor.customerOf.get(subscriber.customerId)?.id ?? '';
  const intentId = newPaid().intentId;
  const payment = cards.charges.signupPayment(
    {
      kind: 'renewal',
      merchantInvoiceId: invoiceId,
      merchantCustomerId: subscriber.customerId,
      morCustomerId,
      amount,
      currency,
      method: 'card',
      paidWith: cards.book.methodOf(subscriber.customerId),
      intentId,
      taxCalculationId: null,
    },
    'succeed',
  );
  payment.merchantInvoiceId = invoiceId;
  return { paymentId: payment.id, chargeId: payment.processorChargeId, intentId };
}

export type Said = {
  readonly id?: string;
  readonly customerId: string;
  readonly invoiceId: string;
  readonly amount: number;
  readonly currency?: string;
};

/** The `data.object` of a `payment.*` event (Document 3, "Webhook payload"). */
export function paymentObject(paid: Paid, status: string, said: Said, more: Json = {}): Json {
  return {
    payment_id: paid.paymentId,
    merchant_invoice_id: said.invoiceId,
    merchant_customer_id: said.customerId,
    processor_charge_id: status === 'failed' || status === 'requires_action' ? '' : paid.chargeId,
    processor_payment_intent_id: paid.intentId,
    amount: said.amount,
    currency: said.currency ?? 'eur',
    status,
    ...more,
  };
}

/**
 * The MoR sends a signed event to the payment webhook. Returns the id of the event. `created`: the event's own time in
 * Unix seconds.
 */
export async function tell(world: World, type: string, object: Json, id?: string, created?: number): Promise<string> {
  const posted = await world.control('POST', '/mor/payment-events', {
    type,
    data: object,
    ...(id === undefined ? {} : { id }),
    ...(created === undefined ? {} : { created }),
  });
  if (typeof posted.body['id'] !== 'string') throw new Error(`event: ${JSON.stringify(posted.body)}`);
  return posted.body['id'];
}

export async function tellSucceeded(world: World, paid: Paid, said: Said): Promise<string> {
  return tell(world, 'payment.succeeded', paymentObject(paid, 'succeeded', said), said.id);
}

/** The MoR takes an amount for an invoice, and delivers payment.succeeded. The payment is refundable. */
export async function chargeByMor(
  world: World,
  subscriber: Subscriber,
  invoiceId: string,
  amount: number,
): Promise<Paid> {
  const paid = takenByMor(world, subscriber, invoiceId, amount);
  await tellSucceeded(world, paid, { customerId: subscriber.customerId, invoiceId, amount });
  return paid;
}

/** Stripe's objects for one invoice, searched in all objects and not only in attached ones. */
export type StripeSide = {
  readonly status: string | null;
  readonly amountPaid: number;
  /** Every record that names the invoice, attached or not. */
  readonly records: readonly string[];
  /** The records attached to the invoice, one entry for each attachment. */
  readonly attached: readonly string[];
  readonly refundReferences: readonly string[];
  /** The amounts of the invoice's credit notes. */
  readonly notes: readonly number[];
};

type Oracle = {
  readonly invoices: readonly {
    readonly id: string;
    readonly status: string;
    readonly amount_paid: number;
    readonly payments?: { data: OraclePayment[] };
  }[];
  readonly payment_records: readonly {
    readonly id: string;
    readonly metadata: Record<string, string>;
    readonly refunds: readonly { readonly refund_reference: string }[];
  }[];
  readonly credit_notes: readonly { readonly invoice: string; readonly amount: number }[];
};
type OraclePayment = { readonly status: string; readonly payment: { readonly payment_record?: string } };

export async function stripeSides(world: World): Promise<ReadonlyMap<string, StripeSide>> {
  const { body } = await world.control('GET', '/stripe/state');
  const oracle = body as unknown as Oracle;
  return new Map(
    oracle.invoices.map((i) => {
      const records = oracle.payment_records.filter((r) => r.metadata['invoice_id'] === i.id);
      const paid = (i.payments?.data ?? []).filter((p) => p.status === 'paid');
      return [
        i.id,
        {
          status: i.status,
          amountPaid: i.amount_paid,
          records: records.map((r) => r.id),
          attached: paid.flatMap((p) => (p.payment.payment_record === undefined ? [] : [p.payment.payment_record])),
          refundReferences: records.flatMap((r) => r.refunds.map((f) => f.refund_reference)),
          notes: oracle.credit_notes.filter((n) => n.invoice === i.id).map((n) => n.amount),
        },
      ];
    }),
  );
}

export async function stripeSide(world: World, invoiceId: string): Promise<StripeSide> {
  const side = (await stripeSides(world)).get(invoiceId);
  if (side === undefined) throw new Error(`the sandbox has no invoice ${invoiceId}`);
  return side;
}

/** Checks that one payment record paid the invoice on Stripe, and that nothing else was written. */
export async function paidOnce(world: World, invoiceId: string): Promise<void> {
  await world.invoice(invoiceId, 'paid');
  const side = await stripeSide(world, invoiceId);
  expect([side.status, side.records.length, side.attached.length]).toEqual(['paid', 1, 1]);
}

/** Waits until `holds` is true for Stripe's objects of an invoice. */
export function untilSide(world: World, invoiceId: string, holds: (side: StripeSide) => boolean): Promise<StripeSide> {
  return world.until(`Stripe shows ${invoiceId} with ${String(holds)}`, () => stripeSide(world, invoiceId), holds);
}

/** A person settles a review item. */
export const resolve = (world: World, item: Json | undefined, resolution: string, note?: string): Promise<Reply> =>
  world.api('POST', `/v1/reviews/${String(item?.['id'])}/resolve`, { resolution, note });

export async function reviews(world: World, invoiceId: string, status = 'open'): Promise<Json[]> {
  const page = await world.api<{ data: Json[] }>('GET', `/v1/reviews?status=${status}&limit=100`);
  return page.body.data.filter((r) => r['invoice_id'] === invoiceId);
}

/** Waits until an invoice has open items of exactly these kinds. */
export async function untilReviews(world: World, invoiceId: string, kinds: readonly string[]): Promise<Json[]> {
  return world.until(
    `${invoiceId} has the open items ${kinds.join(', ') || 'none'}`,
    () => reviews(world, invoiceId),
    (seen) => JSON.stringify(seen.map((r) => r['kind']).sort()) === JSON.stringify([...kinds].sort()),
  );
}

export async function requestsOf(world: World, query: string): Promise<Json[]> {
  const log = await world.control('GET', `/requests?${query}`);
  return log.body['data'] as Json[];
}

/** Waits until `holds` is true for a payment at the API. */
export function untilPayment(world: World, id: string, holds: (json: Json) => boolean): Promise<Json> {
  return world.shows(`/v1/payments/${id}`, holds);
}

export function refund(world: World, paymentId: string, body: Json, key: string = randomUUID()): Promise<Reply> {
  return world.api('POST', `/v1/payments/${paymentId}/refunds`, body, { 'idempotency-key': key });
}

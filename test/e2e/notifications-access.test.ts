// Notifications that end or give a customer's access: disputes, returned debits and refunds, with customer,
// subscription and what is left of the money, so a backend looks nothing up.
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { sendEvent } from '../support/rigs/channels.js';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { type Json, startWorld, type Subscriber, type World } from '../support/rigs/world.js';
import { eventStatus } from './support/endpoint.js';
import {
  chargeByMor,
  deafMor,
  newPaid,
  openRenewal,
  paidRenewal,
  paymentObject,
  requestsOf,
  resolve,
  reviews,
  takenByMor,
  tell,
} from './support/story.js';

type Event = { readonly type: string; readonly data: Json };
type Renewal = Awaited<ReturnType<typeof paidRenewal>>;

let world: World;
let receiver: NotifyReceiver;
let known: Subscriber;

beforeAll(async () => {
  receiver = await NotifyReceiver.open();
  world = await startWorld({
    NOTIFY_URL: receiver.url,
    NOTIFY_SECRETS: newSecret(1),
    BILLING_DRAFT_POLICY: 'finalize',
  });
  await world.startDaemon();
  known = await world.paidSubscriber();
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

const heard = (): readonly Event[] => receiver.heard.map((h) => JSON.parse(h.body) as Event);
const notifiedOf = (invoiceId: string): readonly Event[] =>
  heard().filter((e) => e.data['invoice_id'] === invoiceId && !/^(invoice|review|signup)\./.test(e.type));
/** Waits for exactly these notifications about the money of the invoice, in any order. */
const untilNotified = async (invoiceId: string, types: readonly string[]): Promise<readonly Event[]> => {
  const named = (events: readonly Event[]): string => JSON.stringify(events.map((e) => e.type).sort());
  const wanted = JSON.stringify([...types].sort());
  return world.until(
    `the backend hears ${wanted}`,
    () => Promise.resolve(notifiedOf(invoiceId)),
    (e) => named(e) === wanted,
  );
};
const newest = (events: readonly Event[], type: string): Json | undefined =>
  events.findLast((e) => e.type === type)?.data;
const whose = ({ customerId, subscriptionId, invoiceId }: Renewal): Json => ({
  ...{ invoice_id: invoiceId, customer_id: customerId, subscription_id: subscriptionId },
});

/** The MoR sends an event about a dispute, under a new event id, and Crossbill decides it. */
async function say(renewal: Renewal, what: string, day: number, data: Json = {}): Promise<void> {
  const id = `evt_${randomUUID()}`;
  const names = { disputeId: `dp_${renewal.invoiceId}`, paymentId: renewal.paymentId };
  const created = `2026-12-${String(day).padStart(2, '0')}T00:00:00.000Z`;
  await sendEvent(world, { id, type: what, created, data: { ...names, ...data } });
  expect(await eventStatus(world, 'mor_events', id)).toBe('done');
}

describe('a dispute', () => {
  it('a dispute sends dispute.opened and dispute.closed with customer and subscription, once for all repeats', async () => {
    const renewal = await paidRenewal(world, known);
    const until = '2027-01-15T12:00:00.000Z';
    await say(renewal, 'dispute.action_needed', 1, { deadline: until });
    const [opened] = await untilNotified(renewal.invoiceId, ['dispute.opened']);
    const facts = {
      ...whose(renewal),
      ...{ dispute_id: `dp_${renewal.invoiceId}`, payment_id: renewal.paymentId },
      ...{ processor_charge_id: renewal.payment['processor_charge_id'], amount: 2990, currency: 'eur' },
    };
    expect(opened?.data).toMatchObject({ ...facts, due_at: until });
    await say(renewal, 'dispute.action_needed', 1, { deadline: until });
    await say(renewal, 'dispute.revision_requested', 2);
    await say(renewal, 'dispute.outcome', 3, { outcome: 'lost' });
    await say(renewal, 'dispute.outcome', 4, { outcome: 'lost' });
    await say(renewal, 'dispute.action_needed', 2, { deadline: until });
    const notified = await untilNotified(renewal.invoiceId, ['dispute.opened', 'dispute.closed']);
    expect(newest(notified, 'dispute.closed')).toMatchObject({ ...facts, outcome: 'lost', amount_left: 0 });
  });

  it('a dispute that closes before it opens sends dispute.closed only, and each new decision of the bank one more', async () => {
    const renewal = await paidRenewal(world, known);
    await say(renewal, 'dispute.outcome', 5, { outcome: 'lost' });
    await say(renewal, 'dispute.action_needed', 1);
    await untilNotified(renewal.invoiceId, ['dispute.closed']);
    await say(renewal, 'dispute.outcome', 4, { outcome: 'won' });
    await say(renewal, 'dispute.outcome', 6, { outcome: 'won' });
    const won = await untilNotified(renewal.invoiceId, ['dispute.closed', 'dispute.closed']);
    expect(newest(won, 'dispute.closed')).toMatchObject({ ...whose(renewal), outcome: 'won', amount_left: 2990 });
    await say(renewal, 'dispute.action_needed', 7);
    await say(renewal, 'dispute.outcome', 8, { outcome: 'lost' });
    const all = ['dispute.closed', 'dispute.closed', 'dispute.closed', 'dispute.opened'];
    expect(newest(await untilNotified(renewal.invoiceId, all), 'dispute.closed')).toMatchObject({ outcome: 'lost' });
  });

  it('a dismissed dispute and an outcome in unknown words send nothing until the MoR names the outcome', async () => {
    const renewal = await paidRenewal(world, known);
    await say(renewal, 'dispute.action_needed', 1);
    await untilNotified(renewal.invoiceId, ['dispute.opened']);
    const [item] = await reviews(world, renewal.invoiceId);
    expect((await resolve(world, item, 'dismiss', 'nothing to add')).status).toBe(200);
    await say(renewal, 'dispute.outcome', 2, { outcome: 'settled between banks' });
    await say(renewal, 'dispute.outcome', 3, { outcome: 'Merchant won' });
    const notified = await untilNotified(renewal.invoiceId, ['dispute.opened', 'dispute.closed']);
    expect(newest(notified, 'dispute.closed')).toMatchObject({ outcome: 'won', amount_left: 2990 });
  });

  it('an alert that refunds the payment sends one refund.succeeded with nothing left, and no news of a dispute', async () => {
    const renewal = await paidRenewal(world, known);
    const alertId = `al_${renewal.invoiceId}`;
    await say(renewal, 'pre_chargeback_alert.received', 1, { alertId });
    await world.control('POST', '/mor/refunds', { payment_id: renewal.paymentId, reason: 'fraudulent' });
    await say(renewal, 'pre_chargeback_alert.outcome', 2, { alertId, refunded: true });
    const [notified] = await untilNotified(renewal.invoiceId, ['refund.succeeded']);
    expect(notified?.data).toMatchObject({ ...whose(renewal), amount: 2990, amount_left: 0, made_elsewhere: true });
  });
});

describe('a returned debit', () => {
  it('a recorded return sends debit.returned with nothing left, and its undo sends it again as undone', async () => {
    const renewal = await paidRenewal(world, known);
    const post = (path: string): Promise<unknown> =>
      world.api('POST', `/v1/payments/${renewal.paymentId}/${path}`, {}, { 'idempotency-key': 'key-1' });
    await post('returned');
    await post('returned');
    const [returned] = await untilNotified(renewal.invoiceId, ['debit.returned']);
    const facts = { ...whose(renewal), payment_id: renewal.paymentId, amount: 2990, currency: 'eur' };
    expect(returned?.data).toMatchObject({ ...facts, status: 'returned', amount_left: 0 });
    await post('returned/undo');
    const both = await untilNotified(renewal.invoiceId, ['debit.returned', 'debit.returned']);
    expect(both[1]?.data).toMatchObject({ ...facts, status: 'undone', amount_left: 2990 });
    expect(both[1]?.data['return_id']).toBe(returned?.data['return_id']);
  });
});

describe('a refund', () => {
  it('the refund of a second payment says that the money of the first is left', async () => {
    const renewal = await paidRenewal(world, known);
    const { paymentId } = await chargeByMor(world, known, renewal.invoiceId, 2990);
    await world.control('POST', '/mor/refunds', { payment_id: paymentId });
    const [notified] = await untilNotified(renewal.invoiceId, ['refund.succeeded']);
    expect(notified?.data).toMatchObject({ ...whose(renewal), amount: 2990, amount_left: 2990 });
  });
});

describe('a review item', () => {
  it('review.opened and review.due_soon name the customer and the subscription of the invoice', async () => {
    const renewal = await paidRenewal(world, known);
    await say(renewal, 'dispute.outcome', 1, { outcome: 'lost' });
    await world.query(`update review set due_at = now() + interval '5 hours' where invoice_id = $1`, [
      renewal.invoiceId,
    ]);
    for (const type of ['review.opened', 'review.due_soon']) {
      const [notified] = await world.until(
        `${type} is told`,
        () => Promise.resolve(heard().filter((e) => e.type === type && e.data['invoice_id'] === renewal.invoiceId)),
        { length: 1 },
      );
      expect(notified?.data).toMatchObject(whose(renewal));
    }
  });
});

describe('an invoice without any event from Stripe', () => {
  beforeAll(async () => {
    await world.control('DELETE', '/stripe/webhook-endpoints/all');
    await deafMor(world);
  });
  const unheard = async (): Promise<Json & { readonly said: { customerId: string; invoiceId: string } }> => {
    const invoiceId = await openRenewal(world, known);
    const { customerId, subscriptionId } = known;
    const whose = { invoice_id: invoiceId, customer_id: customerId, subscription_id: subscriptionId };
    return { ...whose, said: { customerId, invoiceId } };
  };

  it('a refused renewal without any event from Stripe sends invoice.left_open with its subscription', async () => {
    const { said, ...whose } = await unheard();
    await tell(world, 'payment.failed', paymentObject(newPaid(), 'failed', { ...said, amount: 2990 }));
    const [notified] = await world.until(
      'invoice.left_open is told',
      () => Promise.resolve(heard().filter((e) => e.data['invoice_id'] === said.invoiceId)),
      (events) => events.length > 0,
    );
    expect(notified).toMatchObject({ type: 'invoice.left_open', data: { ...whose, amount_due: 2990 } });
  });

  it('a refund of an unknown invoice is told with its subscription as soon as Stripe can be read', async () => {
    const { said, ...whose } = await unheard();
    const path = `/v1/invoices/${said.invoiceId}`;
    const down = { side: 'stripe', method: 'GET', path, status: 503, times: 2, action: 'status' };
    expect((await world.fault(down)).status).toBe(201);
    const { paymentId } = takenByMor(world, known, said.invoiceId, 2990);
    await world.control('POST', '/mor/refunds', { payment_id: paymentId });
    const [notified] = await untilNotified(said.invoiceId, ['refund.succeeded']);
    expect(notified?.data).toMatchObject({ ...whose, payment_id: paymentId, amount: 2990, amount_left: 0 });
    const reads = await requestsOf(world, `side=stripe&path=${path}`);
    expect(reads.map((r) => r['status'])).toEqual(expect.arrayContaining([503, 503, 200]));
  });
});

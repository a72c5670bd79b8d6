// `crossbill refund` by each id of a payment: the MoR's, ours, the processor's; by its output and the stored rows.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { begun, complete, confirmed } from '../e2e/support/signups.js';
import {
  deafMor,
  newPaid,
  openRenewal,
  paidOnce,
  paidRenewal,
  stripeSide,
  tellSucceeded,
} from '../e2e/support/story.js';
import { type Json, startWorld, type World } from '../support/rigs/world.js';
import { cli, cliJson } from './rig.js';

let world: World;

beforeAll(async () => {
  world = await startWorld();
  await world.startDaemon();
});
afterAll(() => world.close());

async function nameless(): Promise<{ ours: string; paymentId: string; invoiceId: string }> {
  const b = await begun(world);
  const { chargeId, paymentId } = await confirmed(world, b);
  const done = await complete(world, b, chargeId);
  await paidOnce(world, b.invoiceId);
  return { ours: String((done.body['payment'] as Json)['id']), paymentId, invoiceId: b.invoiceId };
}

const payment = async (id: string): Promise<Json> => (await world.api('GET', `/v1/payments/${id}`)).body;

it('`crossbill refund` refuses a payment without a MoR id; with `--payment-id` the command stores the given id and refunds the payment', async () => {
  const { ours, paymentId, invoiceId } = await nameless();
  const bare = await cli(['refund', ours, '--amount', '9.90', '--yes'], world.env);
  expect(bare).toMatchObject({ code: 1, out: '', err: expect.stringContaining('crossbill refund --payment-id') });
  expect((await payment(ours))['refunds']).toEqual([]);
  const done = await cliJson(
    ['refund', ours, '--payment-id', paymentId, '--amount', '9.90', '--key', 'ticket-8', '--yes'],
    world.env,
  );
  expect(done).toMatchObject({
    code: 0,
    body: { status: 'succeeded', mirror: 'done', amount: 990, currency: 'eur', payment_id: paymentId },
  });
  expect(await payment(paymentId)).toMatchObject({ id: paymentId, amount_refunded: 990 });
  expect((await stripeSide(world, invoiceId)).notes).toHaveLength(1);
  const trace = (await world.api<{ data: Json[] }>('GET', '/v1/audit?action=payment.identify')).body.data;
  expect(trace[0]).toMatchObject({
    actor: 'cli:ada',
    outcome: 'done',
    target: ours,
    detail: { payment_id: paymentId },
  });

  // With the same key it is the same refund, by whichever name.
  const again = await cliJson(
    ['refund', ours, '--payment-id', paymentId, '--amount', '9.90', '--key', 'ticket-8', '--yes'],
    world.env,
  );
  expect([again.code, again.body['id']]).toEqual([0, done.body['id']]);
  expect(await payment(paymentId)).toMatchObject({ amount_refunded: 990 });

  // One payment's name is refused for another, with the name of its owner, and no money moves.
  const other = await nameless();
  const clash = await cli(['refund', other.ours, '--payment-id', paymentId, '--yes'], world.env);
  expect(clash).toMatchObject({ code: 1, out: '', err: expect.stringContaining(ours) });
  expect(await payment(other.ours)).toMatchObject({ id: other.ours, amount_refunded: 0, refunds: [] });
});

it('`crossbill refund` reports a payment id unknown to the MoR, and Crossbill removes the wrong id', async () => {
  const { ours, paymentId } = await nameless();
  const failed = await cli(['refund', ours, '--payment-id', 'pay_mistyped', '--amount', '9.90', '--yes'], world.env);
  expect(failed.code).toBe(1);
  expect(failed.out).toMatch(/^Refund ref_\S+ of 9\.90 EUR: failed: .*You may refund the amount again\.\n$/);
  expect(await payment(ours)).toMatchObject({ id: ours, amount_refunded: 0 });
  const right = await cli(['refund', ours, '--payment-id', paymentId, '--amount', '9.90', '--yes'], world.env);
  expect(right.code).toBe(0);
  expect(right.out).toMatch(/^Refund ref_\S+ of 9\.90 EUR: succeeded, and shown on Stripe by credit note cn_\S+\.\n$/);
});

it("`crossbill refund` takes the processor's charge or payment intent, and refunds the same payment under the same key", async () => {
  const { payment: paid, paymentId } = await paidRenewal(world);
  const [charge, intent] = [String(paid['processor_charge_id']), String(paid['processor_payment_intent_id'])];
  expect([charge, intent]).toEqual([expect.stringMatching(/^ch_/), expect.stringMatching(/^pi_/)]);
  const refund = (id: string, key: string) =>
    cliJson(['refund', id, '--amount', '5', '--key', key, '--yes'], world.env);
  const first = await refund(charge, 'by-charge');
  expect(first).toMatchObject({ code: 0, body: { status: 'succeeded', amount: 500, payment_id: paymentId } });
  expect((await refund(paymentId, 'by-charge')).body['id']).toBe(first.body['id']);
  expect(await refund(intent, 'by-intent')).toMatchObject({ code: 0, body: { payment_id: paymentId } });
  expect(await payment(paymentId)).toMatchObject({ amount_refunded: 1000 });
  expect((await cli(['refund', 'ch_nobody', '--yes'], world.env)).err).toContain('There is no payment ch_nobody');
});

it('`crossbill refund` names the payments of a charge that the MoR took for two invoices, and refunds none', async () => {
  const one = await paidRenewal(world);
  await deafMor(world);
  const two = await world.paidSubscriber({ email: 'two@example.com' });
  const other = await openRenewal(world, two);
  const ids = { paymentId: newPaid().paymentId, intentId: newPaid().intentId };
  const { customerId } = two;
  const charge = String(one.payment['processor_charge_id']);
  await tellSucceeded(world, { ...ids, chargeId: charge }, { customerId, invoiceId: other, amount: 2990 });
  await world.until(
    'both are known',
    async () => (await payment(ids.paymentId))['id'],
    (id) => id === ids.paymentId,
  );
  const ran = await cli(['refund', charge, '--yes'], world.env);
  expect(ran).toMatchObject({ code: 1, out: '', err: expect.stringContaining(ids.paymentId) });
  expect(ran.err).toContain(one.paymentId);
});

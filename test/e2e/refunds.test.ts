// Refunds, end to end.
import { beforeAll, describe, expect, it } from '@jest/globals';
import { type Json, type Reply, type Subscriber, useWorld, wrongField } from '../support/rigs/world.js';
import {
  type Paid,
  deafMor,
  newPaid,
  openRenewal,
  paymentObject,
  refund,
  requestsOf,
  reviews,
  stripeSide,
  tell,
  tellSucceeded,
  untilPayment,
  untilReviews,
  untilSide,
  chargeByMor,
} from './support/story.js';

const CONFLICT = { action: 'status', status: 409, code: 'idempotency_conflict' };

// Refunds by an operator: never more than paid, never twice, and none forgotten without an answer.
describe('refunds', () => {
  const world = useWorld();
  let s: Subscriber;
  beforeAll(async () => {
    await world.startDaemon();
    s = await world.paidSubscriber({ amount: 1000 });
    await deafMor(world);
  });

  async function paidRenewal(): Promise<Paid & { readonly invoiceId: string }> {
    const invoiceId = await openRenewal(world, s);
    const paid = await chargeByMor(world, s, invoiceId, 1000);
    await world.invoice(invoiceId, 'paid');
    return { ...paid, invoiceId };
  }
  const atMor = async (paid: Paid): Promise<Json[]> =>
    (await world.control('GET', `/mor/refunds?payment=${paid.paymentId}`)).body['data'] as Json[];
  const path = (paid: Paid): string => `/api/payments/${paid.paymentId}/refund`;
  const settled = (paid: Paid): Promise<Json> =>
    untilPayment(world, paid.paymentId, (p) =>
      (p['refunds'] as Json[]).every((r) => r['status'] === 'succeeded' && r['mirror'] === 'done'),
    );
  /** Lets the MoR stay silent longer than the caller waits; the calls may have their effect or not. */
  const silence = (paid: Paid, action: string, times: number): Promise<Reply> =>
    world.fault({ side: 'mor', method: 'POST', path: path(paid), times, action });
  const refuseRepeats = (paid: Paid): Promise<Reply> =>
    world.fault({ ...CONFLICT, side: 'mor', method: 'POST', path: path(paid), times: 9 });

  it('Crossbill answers 202 to an unanswered refund, reserves the amount, and settles the refund by a repeated call', async () => {
    const paid = await paidRenewal();
    await silence(paid, 'drop_after', 4);
    // The webhook gets lost too: only the repeat of the call can tell.
    await world.fault({ target: 'deliveries', type: 'payment.refunded', action: 'lose' });
    const asked = await refund(world, paid.paymentId, { amount: 600 }, 'silent');
    expect(asked).toMatchObject({ status: 202, body: { status: 'unknown', mor_refund_id: null, amount: 600 } });
    expect(await refund(world, paid.paymentId, { amount: 500 })).toMatchObject(wrongField('amount'));
    const shown = await settled(paid);
    expect(shown).toMatchObject({ amount_refunded: 600, refunds: [{ id: asked.body['id'] }] });
    expect(await atMor(paid)).toHaveLength(1);
    const calls = await requestsOf(world, `side=mor&path=${path(paid)}`);
    expect(new Set(calls.map((c) => `${String(c['idempotency_key'])} ${JSON.stringify(c['body'])}`)).size).toBe(1);
    const again = await refund(world, paid.paymentId, { amount: 600 }, 'silent');
    expect(again).toMatchObject({ status: 201, body: { id: asked.body['id'], status: 'succeeded' } });
    const byTheirs = await world.api('GET', `/v1/refunds/${String(again.body['mor_refund_id'])}`);
    expect(byTheirs.body['id']).toBe(asked.body['id']);
    await world.control('DELETE', '/faults');
  });

  it("the MoR's refund webhook settles an unanswered refund, and a refusal of the repeated call changes nothing", async () => {
    const paid = await paidRenewal();
    await silence(paid, 'drop_after', 1);
    await refuseRepeats(paid);
    const asked = await refund(world, paid.paymentId, { amount: 600 });
    expect([201, 202]).toContain(asked.status); // whether the webhook came before the answer to the caller is a race

    const shown = await settled(paid);
    expect(shown).toMatchObject({ amount_refunded: 600, refunds: [{ id: asked.body['id'] }] });
    expect(await atMor(paid)).toHaveLength(1);
    await untilReviews(world, paid.invoiceId, []);
    await world.control('DELETE', '/faults');
  });

  it('if the MoR refuses the repeat of an unanswered refund, the refund stays `unknown`, and a `refund_stuck` review item opens', async () => {
    const paid = await paidRenewal();
    await world.fault({ target: 'deliveries', type: 'payment.refunded', action: { delay_ms: 3_600_000 } });
    await silence(paid, 'drop_after', 1);
    await refuseRepeats(paid);
    const asking = refund(world, paid.paymentId, { amount: 600 });
    const [item] = await untilReviews(world, paid.invoiceId, ['refund_stuck']);
    expect((await world.api('GET', `/v1/refunds/${String(item?.['refund_id'])}`)).body).toMatchObject({
      status: 'unknown',
    });
    expect(await refund(world, paid.paymentId, { amount: 401 })).toMatchObject({ status: 400 });
    await world.advance(3_700);
    await settled(paid);
    await untilReviews(world, paid.invoiceId, []);
    expect([201, 202]).toContain((await asking).status);
    expect(await atMor(paid)).toHaveLength(1);
    await world.control('DELETE', '/faults');
  });

  it('partial refunds add up to the whole payment, and Crossbill refuses any further refund', async () => {
    const paid = await paidRenewal();
    const parts = await Promise.all([300, 300, 300, 300].map((amount) => refund(world, paid.paymentId, { amount })));
    expect(parts.map((p) => p.status).sort()).toEqual([201, 201, 201, 400]);
    expect((await refund(world, paid.paymentId, {})).body).toMatchObject({ amount: 100 });
    expect(await settled(paid)).toMatchObject({ status: 'refunded', amount_refunded: 1000 });
    expect((await stripeSide(world, paid.invoiceId)).notes.toSorted((a, b) => a - b)).toEqual([100, 300, 300, 300]);
    expect((await refund(world, paid.paymentId, {})).status).toBe(422);
  });

  it("a refund in the MoR's portal lowers the amount refundable through Crossbill", async () => {
    const paid = await paidRenewal();
    await world.control('POST', '/mor/refunds', { payment_id: paid.paymentId, amount: 700, reason: 'by hand' });
    await settled(paid);
    await untilPayment(world, paid.paymentId, (p) => p['amount_refunded'] === 700);
    expect((await refund(world, paid.paymentId, { amount: 301 })).status).toBe(400);
    expect((await refund(world, paid.paymentId, { amount: 300 })).body).toMatchObject({
      status: 'succeeded',
      origin: 'api',
    });
    expect(await settled(paid)).toMatchObject({ status: 'refunded' });
    expect(await reviews(world, paid.invoiceId)).toEqual([]);
  });

  it('if two refunds share a processor_refund_id, Crossbill counts both, and a review item shows the refund that Stripe refuses', async () => {
    const paid = [];
    for (const n of [1, 2]) {
      const s = await world.paidSubscriber();
      const invoiceId = await openRenewal(world, s);
      const ids = newPaid();
      const said = { customerId: s.customerId, invoiceId, amount: 2990 };
      await tellSucceeded(world, ids, said);
      await world.invoice(invoiceId, 'paid');
      const refund = { refund_id: `rfnd_${n}`, processor_refund_id: 're_shared', amount_refunded_total: 1000 };
      await tell(
        world,
        'payment.refunded',
        paymentObject(ids, 'partially_refunded', { ...said, amount: 1000 }, refund),
      );
      await untilPayment(world, ids.paymentId, (p) => p['amount_refunded'] === 1000);
      paid.push({ ...ids, invoiceId });
      if (n === 1) await untilSide(world, invoiceId, (side) => side.notes.length === 1);
    }
    const [first, second] = paid.map((p) => p.invoiceId);
    const [item] = await untilReviews(world, second ?? '', ['effect_failed']);
    const other = { refund: 'rfnd_1', payment: paid[0]?.paymentId, invoice: first };
    const fact = { code: 'mirror-refused', processor_refund: 're_shared', other };
    expect(item).toMatchObject({ fact });
    expect((await stripeSide(world, first ?? '')).refundReferences).toEqual(['re_shared']);
    expect((await stripeSide(world, second ?? '')).notes).toEqual([]);
    const { body } = await world.api('GET', '/v1/events?status=parked');
    expect(body['data']).toEqual([]);
  });
});

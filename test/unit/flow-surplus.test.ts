// More was taken for an invoice than was due, on the lane's real flow: what a person chooses, and what becomes of it.
import { describe, expect, it } from '@jest/globals';
import { resolveReview } from '../../src/lane/rules/resolve-review.js';
import { type LaneState, type Resolution } from '../../src/domain/model.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../support/builders.js';
import { LaneHarness, openKinds } from '../support/lane-harness.js';

const state = (h: LaneHarness): Promise<LaneState> => h.state(INVOICE_ID);

async function choose(h: LaneHarness, resolution: Resolution): Promise<LaneState> {
  const item = (await state(h)).reviews.find((r) => r.status === 'open');
  const done = await h.command(INVOICE_ID, (s, ctx) =>
    resolveReview(s, item?.id ?? '', { resolution, note: null, by: 'ops' }, ctx),
  );
  expect(done.ok).toBe(true);
  await h.rest();
  return state(h);
}

/** 10.00 are marked. A credit note of 2.00 came between our look and the mark, so 2.00 are too much. */
async function overpaid(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.deliver(aPaymentSucceeded());
  const send = h.platform.send.bind(h.platform);
  h.platform.send = async (call) => {
    if (call.asked.kind === 'attach_payment') h.platform.change(INVOICE_ID, { amountDue: 800n, amountRemaining: 800n });
    return send(call);
  };
  await h.drain();
  expect(openKinds(await state(h))).toEqual(['amount_mismatch']);
  return h;
}

describe('a surplus of 2.00 EUR that a person chose to give back', () => {
  it('waits for a person again when the MoR refuses to give it back, and is given back once it agrees', async () => {
    const h = await overpaid();
    h.gateway.trouble.push('refused');
    const refused = await choose(h, 'refund');
    expect(refused.refunds.map((r) => [r.amount, r.status])).toEqual([[200n, 'failed']]);
    expect(openKinds(refused)).toEqual(['amount_mismatch']);
    const s = await choose(h, 'refund');
    expect(s.refunds.map((r) => [r.amount, r.status, r.surplus])).toEqual([
      [200n, 'failed', 0n],
      [200n, 'succeeded', 200n],
    ]);
    expect([openKinds(s), h.platform.notes]).toEqual([[], []]);
  });

  it('waits for a person again when its refund failed', async () => {
    const h = await overpaid();
    h.gateway.nextStatus = 'failed';
    const s = await choose(h, 'refund');
    expect(s.refunds.map((r) => r.status)).toEqual(['failed']);
    expect(openKinds(s).toSorted()).toEqual(['amount_mismatch', 'refund_stuck']);
  });

  it('is not asked about while its refund is pending', async () => {
    const h = await overpaid();
    h.gateway.nextStatus = 'pending';
    const s = await choose(h, 'refund');
    expect([s.refunds.map((r) => r.status), openKinds(s)]).toEqual([['pending'], []]);
    await h.take(aRefund({ refundId: s.refunds[0]?.morRefundId ?? '', amount: 200, total: 200 }));
    expect([(await state(h)).refunds.map((r) => r.status), openKinds(await state(h))]).toEqual([['succeeded'], []]);
  });
});

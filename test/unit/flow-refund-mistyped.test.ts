// A refund under a name that the MoR does not know, whose first try was not answered: what its 404 proves, and what it does not.
import { expect, it } from '@jest/globals';
import { putPayment } from '../../src/domain/lane/change.js';
import { type LaneState, type PaymentRow } from '../../src/domain/model.js';
import { refundable } from '../../src/domain/status.js';
import { INVOICE_ID } from '../support/builders.js';
import { type LaneHarness } from '../support/lane-harness.js';
import { ask, paid } from '../support/paid-lane.js';

const paymentOf = (s: LaneState): PaymentRow => {
  const [p] = s.payments;
  if (p === undefined) throw new Error('no payment');
  return p;
};

/** A refund of 4.00 of 10.00 EUR; its first request is lost, and the repeat is told that there is no such payment. */
async function refused(identifiedBy: string | null): Promise<{ h: LaneHarness; s: LaneState; refundId: string }> {
  const h = await paid();
  const row = paymentOf(await h.state(INVOICE_ID));
  await h.command(INVOICE_ID, (s) => ({
    ok: true,
    state: putPayment(s, { ...row, paymentId: 'pay_mistyped', identifiedBy }),
    value: null,
  }));
  h.gateway.trouble.push('lost-request');
  const { id } = await ask(h, 400n);
  await h.rest();
  return { h, s: await h.state(INVOICE_ID), refundId: id };
}

it('unknown, then no such payment: under a name that a person gave nothing was refunded, and the name is free for the right one', async () => {
  const { h, s, refundId } = await refused('ops');
  const p = paymentOf(s);
  expect(h.gateway.made).toEqual([]);
  expect(s.refunds[0]).toMatchObject({ status: 'failed', failure: { status: 404, code: 'payment_not_found' } });
  expect([p.paymentId, p.identifiedBy, refundable(p, s.refunds, 0n)]).toEqual([null, null, 1000n]);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open).toMatchObject([
    { kind: 'refund_stuck', refundId, summary: expect.stringContaining('nothing was refunded') },
  ]);
});

it('unknown, then no such payment: of a name that the MoR gave itself it proves nothing, and the amount stays reserved', async () => {
  const { s, refundId } = await refused(null);
  const p = paymentOf(s);
  expect([s.refunds[0]?.status, p.paymentId]).toEqual(['unknown', 'pay_mistyped']);
  expect(refundable(p, s.refunds, 0n)).toBe(600n);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(open).toMatchObject([{ kind: 'refund_stuck', refundId }]);
});

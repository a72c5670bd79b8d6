// `payment.refunded` with neither refund id, which Document 3 allows: its running total tells it from another refund.
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { requestRefund } from '../../src/refunds/rules/request-refund.js';
import { type Delivery } from '../../src/domain/ports/inbox.js';
import { anInvoice, aPaymentSucceeded, aRefund, INVOICE_ID } from '../support/builders.js';
import { LaneHarness, openKinds } from '../support/lane-harness.js';

async function paid(): Promise<LaneHarness> {
  const h = LaneHarness.inMemory();
  h.platform.put(anInvoice());
  h.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
  await h.take(aPaymentSucceeded());
  return h;
}

const named = (n: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_named_${n}`, refundId: `rfnd_${n}`, amount, total });
const unnamed = (n: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_bare_${n}`, refundId: null, processorRefundId: null, amount, total });

async function refunds(h: LaneHarness): Promise<{ sum: bigint; rows: number; notes: number; open: readonly string[] }> {
  const s = await h.state(INVOICE_ID);
  const sum = s.payments[0]?.amountRefunded ?? 0n;
  return { sum, rows: s.refunds.length, notes: h.platform.notes.length, open: openKinds(s) };
}

describe('a refund that is announced without an id', () => {
  it('is recorded and mirrored once, however often and under whatever event id it is told', async () => {
    const h = await paid();
    await h.take(unnamed(1, 300, 300));
    await h.take(unnamed(1, 300, 300), unnamed(2, 300, 300), named(1, 300, 300));
    expect(await refunds(h)).toEqual({ sum: 300n, rows: 1, notes: 1, open: [] });
  });

  it('is another one when the running total says so, of the same amount too', async () => {
    const h = await paid();
    await h.take(unnamed(1, 300, 300), unnamed(2, 300, 600), named(3, 300, 900));
    expect(await refunds(h)).toEqual({ sum: 900n, rows: 3, notes: 3, open: [] });
  });

  it('is the one we asked for, before its answer came and after', async () => {
    for (const first of [true, false]) {
      const h = await paid();
      if (first) h.gateway.trouble.push('lost-answer');
      const p = (await h.state(INVOICE_ID)).payments[0];
      const wish = { amount: 400n, reason: null, metadata: null, by: 'ops' } as const;
      await h.command(INVOICE_ID, (s, ctx) => requestRefund(s, p?.id ?? '', wish, ctx));
      await h.take(unnamed(1, 400, 400));
      await h.rest();
      expect(await refunds(h)).toEqual({ sum: 400n, rows: 1, notes: 1, open: [] });
    }
  });

  it('comes to the same sums in any order, named or not', async () => {
    const told = [named(1, 300, 300), unnamed(2, 400, 700), unnamed(3, 300, 1000), unnamed(4, 300, 300)];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(told, { minLength: 4 }), async (order) => {
        const h = await paid();
        for (const event of order) await h.take(event);
        expect(await refunds(h)).toEqual({ sum: 1000n, rows: 3, notes: 3, open: [] });
      }),
      { numRuns: 24 },
    );
  });
});

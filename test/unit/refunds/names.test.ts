// Which refund is meant: one asked for again under its key, one under a name that the MoR does not know, one announced without an id.
import { withWords } from '../../support/item-words.js';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { putPayment } from '../../support/put-rows.js';
import { askRefund } from '../../support/ask-refund.js';
import { type LaneState, type PaymentRow, type RefundRow } from '../../../src/domain/model.js';
import { type Delivery } from '../../../src/domain/ports/inbox.js';
import { refundable } from '../../../src/domain/status.js';
import { tellLane } from '../../../src/notifications/rules/tell-lane.js';
import { aRefund, INVOICE_ID } from '../../support/builders.js';
import { balances, type LaneHarness, openKinds } from '../../support/lane-harness.js';
import { ask, paid } from '../../support/paid-lane.js';

const KEY = ['caller', 'ops', 'K'];

/** Of 3.00 EUR. */
async function askByKey(h: LaneHarness, scope = KEY): Promise<RefundRow> {
  const p = (await h.state(INVOICE_ID)).payments[0];
  const request = { amount: 300n, reason: 'goodwill', metadata: null, by: 'ops' };
  const made = await h.command(INVOICE_ID, (s, ctx) => askRefund(s, p?.id ?? '', request, ctx, scope));
  if (!made.ok) throw new Error(made.code);
  return made.value;
}

/** Of 10.00 EUR: 3.00 is given back once, shown once, and 7.00 can still be given back. */
async function givenBackOnce(h: LaneHarness): Promise<RefundRow> {
  const s = await h.state(INVOICE_ID);
  const [stands, ...others] = s.refunds.filter((r) => r.status !== 'joined');
  const [p] = s.payments;
  if (stands === undefined || p === undefined) throw new Error('a row is missing');
  expect(others).toEqual([]);
  expect([stands.status, p.amountRefunded, refundable(p, s.refunds, 0n)]).toEqual(['succeeded', 300n, 700n]);
  expect(h.platform.notes).toHaveLength(1);
  expect(balances(s)).toEqual({ mor_receivable: 700n, settled_invoices: -700n });
  expect(openKinds(s)).toEqual([]);
  return stands;
}

describe('a refund asked for again after its event came back', () => {
  it('is the one that the event brought: nothing is reserved beside it, and it shows on Stripe once', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
    const asked = await askByKey(h);
    expect(asked.status).toBe('requested');
    const before = await h.state(INVOICE_ID);
    await h.drain();
    const stands = await givenBackOnce(h);
    expect(stands).toMatchObject({ morRefundId: 'rfnd_api1', askedAs: asked.id, origin: 'api' });
    const after = await h.state(INVOICE_ID);
    expect(tellLane(before, after).map((t) => t.type)).toEqual([]);
    await h.rest(15 * 24);
    await givenBackOnce(h);
  });

  it('gives the same answer to the same key from then on, and is sent once', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
    await askByKey(h);
    await h.drain();
    const again = await askByKey(h);
    expect([again.morRefundId, again.status]).toEqual(['rfnd_api1', 'succeeded']);
    await h.drain();
    expect(h.gateway.made).toHaveLength(1);
  });

  it('closes the item of a wait that ended so', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1' }));
    h.gateway.trouble.push(...Array.from({ length: 400 }, () => 'lost-answer' as const));
    await askByKey(h);
    await h.drain();
    expect((await h.state(INVOICE_ID)).refunds.map((r) => r.status)).toEqual(['succeeded', 'unknown']);
    h.gateway.trouble.length = 0;
    await h.rest(2);
    await givenBackOnce(h);
  });

  it('is known by its time where the event had no id, and gets the id of the answer', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: null, processorRefundId: null }));
    h.gateway.distort = (a) => ({ ...a, createdAt: new Date(0) });
    const asked = await askByKey(h);
    await h.drain();
    expect(await givenBackOnce(h)).toMatchObject({
      morRefundId: 'rfnd_api1',
      processorRefundId: 're_api1',
      askedAs: asked.id,
    });
  });

  it('is another refund where the event had no id and the MoR made the refund later than that', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: null, processorRefundId: null }));
    h.gateway.distort = (a) => ({ ...a, createdAt: new Date(h.clock.now().getTime() + 86_400_000) });
    await askByKey(h);
    await h.drain();
    const s = await h.state(INVOICE_ID);
    expect(s.refunds.map((r) => [r.status, r.origin])).toEqual([
      ['succeeded', 'event'],
      ['succeeded', 'api'],
    ]);
    expect(s.payments[0]?.amountRefunded).toBe(600n);
  });

  it('does not take the event of a later refund for its own', async () => {
    const h = await paid();
    await h.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', total: null }));
    await askByKey(h);
    await h.drain();
    await h.take(aRefund({ refundId: null, processorRefundId: null, total: 600 }));
    const s = await h.state(INVOICE_ID);
    expect(s.refunds.map((r) => [r.status, r.origin])).toEqual([
      ['succeeded', 'api'],
      ['joined', 'api'],
      ['succeeded', 'event'],
    ]);
    expect(s.payments[0]?.amountRefunded).toBe(600n);
  });
});

describe('two refunds of one amount that are asked for again after their events came back without ids', () => {
  it.each([
    { totals: [300, 600], keys: ['K1', 'K2'] },
    { totals: [300, 600], keys: ['K2', 'K1'] },
    { totals: [600, 300], keys: ['K1', 'K2'] },
    { totals: [600, 300], keys: ['K2', 'K1'] },
  ] as const)('are the two of the events: totals $totals, keys $keys', async ({ totals, keys }) => {
    const h = await paid();
    const since = h.clock.now().getTime();
    const at = { 300: new Date(since + 60_000), 600: new Date(since + 3_600_000) };
    h.clock.advance(3 * 3_600_000);
    for (const total of totals) {
      const unnamed = { refundId: null, processorRefundId: null };
      await h.take(aRefund({ ...unnamed, eventId: `evt_${total}`, total, at: at[total] }));
    }
    for (const key of keys) {
      const [id, createdAt] = key === 'K1' ? ['rfnd_1', at[300]] : ['rfnd_2', at[600]];
      h.gateway.distort = (a) => ({ ...a, morRefundId: id, processorRefundId: `re_${id}`, createdAt });
      await askByKey(h, ['caller', 'ops', key]);
      await h.drain();
    }
    await h.rest(48);
    const s = await h.state(INVOICE_ID);
    const stand = s.refunds.filter((r) => r.status !== 'joined');
    expect(new Map(stand.map((r) => [r.totalAfter, r.morRefundId]))).toEqual(
      new Map([
        [300n, 'rfnd_1'],
        [600n, 'rfnd_2'],
      ]),
    );
    expect([s.payments[0]?.amountRefunded, h.platform.notes.length, openKinds(s)]).toEqual([600n, 2, []]);
    expect(balances(s)).toEqual({ mor_receivable: 400n, settled_invoices: -400n });
  });
});

// A refund under a name that the MoR does not know, whose first try was not answered: what its 404 proves, and what it does not.
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
  expect(s.refunds[0]).toMatchObject({ status: 'failed', failure: { status: null, code: 'payment_not_found' } });
  expect([p.paymentId, p.identifiedBy, refundable(p, s.refunds, 0n)]).toEqual([null, null, 1000n]);
  const open = s.reviews.filter((r) => r.status === 'open');
  expect(withWords(open)).toMatchObject([
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

// `payment.refunded` with neither refund id, which Document 3 allows: its running total tells it from another refund.
const named = (n: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_named_${n}`, refundId: `rfnd_${n}`, amount, total });
const unnamed = (n: number, amount: number, total: number): Delivery =>
  aRefund({ eventId: `evt_bare_${n}`, refundId: null, processorRefundId: null, amount, total });

async function counted(h: LaneHarness): Promise<{ sum: bigint; rows: number; notes: number; open: readonly string[] }> {
  const s = await h.state(INVOICE_ID);
  const sum = s.payments[0]?.amountRefunded ?? 0n;
  return { sum, rows: s.refunds.length, notes: h.platform.notes.length, open: openKinds(s) };
}

describe('a refund that is announced without an id', () => {
  it('is recorded and mirrored once, however often and under whatever event id it is told', async () => {
    const h = await paid();
    await h.take(unnamed(1, 300, 300));
    await h.take(unnamed(1, 300, 300), unnamed(2, 300, 300), named(1, 300, 300));
    expect(await counted(h)).toEqual({ sum: 300n, rows: 1, notes: 1, open: [] });
  });

  it('is another one when the running total says so, of the same amount too', async () => {
    const h = await paid();
    await h.take(unnamed(1, 300, 300), unnamed(2, 300, 600), named(3, 300, 900));
    expect(await counted(h)).toEqual({ sum: 900n, rows: 3, notes: 3, open: [] });
  });

  it('is the one we asked for, before its answer came and after', async () => {
    for (const first of [true, false]) {
      const h = await paid();
      if (first) h.gateway.trouble.push('lost-answer');
      const p = (await h.state(INVOICE_ID)).payments[0];
      const wish = { amount: 400n, reason: null, metadata: null, by: 'ops' } as const;
      await h.command(INVOICE_ID, (s, ctx) => askRefund(s, p?.id ?? '', wish, ctx));
      await h.take(unnamed(1, 400, 400));
      await h.rest();
      expect(await counted(h)).toEqual({ sum: 400n, rows: 1, notes: 1, open: [] });
    }
  });

  it('comes to the same sums in any order, named or not', async () => {
    const told = [named(1, 300, 300), unnamed(2, 400, 700), unnamed(3, 300, 1000), unnamed(4, 300, 300)];
    await fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(told, { minLength: 4 }), async (order) => {
        const h = await paid();
        for (const event of order) await h.take(event);
        expect(await counted(h)).toEqual({ sum: 1000n, rows: 3, notes: 3, open: [] });
      }),
      { numRuns: 24 },
    );
  });
});

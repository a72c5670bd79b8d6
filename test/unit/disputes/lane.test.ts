// Disputes and alerts in the lane of their invoice, in every order of their events.
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { putPayment, putRefund } from '../../support/put-rows.js';
import { newRefund } from '../../../src/refunds/rules/refund.js';
import { aCtx, hear, NOW, open, paidByCard } from '../../support/channel-lane.js';
import { withWords } from '../../support/item-words.js';
import { settle } from '../../support/settled.js';
import { resolveReview } from '../../support/decide.js';

const about = { disputeId: 'dp_1', paymentReference: 'ch_1', deadline: '2026-12-01T00:00:00Z' };

it('an open dispute belongs to its payment, opens a review item with its deadline, and leaves the invoice paid', () => {
  const s = hear(paidByCard(), 'dispute.action_needed', about);
  expect(s.objects).toMatchObject([{ kind: 'dispute', morId: 'dp_1', paymentRowId: s.payments[0]?.id }]);
  expect(withWords(open(s))).toMatchObject([
    { kind: 'dispute', subject: 'dp_1', summary: expect.stringContaining('2026-12-01') },
  ]);
  expect(s.invoice?.status).toBe('paid');
});

it.each(['won', 'lost'])(
  'a %s dispute ends the same in every order of its events, with at most one ledger entry',
  (outcome) => {
    const all = [
      ['dispute.action_needed', about, '2026-11-20T10:00:00Z'],
      ['dispute.revision_requested', { ...about, deadline: '2026-12-05T00:00:00Z' }, '2026-11-20T11:00:00Z'],
      ['dispute.outcome', { disputeId: 'dp_1', charge: 'ch_1', outcome }, '2026-11-20T12:00:00Z'],
      ['dispute.outcome', { disputeId: 'dp_1', outcome }, '2026-11-20T12:00:01Z'],
    ] as const;
    fc.assert(
      fc.property(fc.shuffledSubarray([0, 1, 2, 3], { minLength: 4 }), (order) => {
        let s = paidByCard();
        for (const i of order) {
          const [type, data, at] = all[i] ?? all[0];
          s = hear(s, type, data, aCtx(), `evt_${i}`, at);
        }
        expect(s.objects).toMatchObject([{ status: outcome }]);
        const lost = s.entries.filter((e) => e.reason === 'dispute_lost');
        expect(lost).toHaveLength(outcome === 'lost' ? 1 : 0);
        expect(open(s).map((r) => r.subject)).toEqual(outcome === 'lost' ? ['dp_1:lost'] : []);
        expect(s.invoice?.status).toBe('paid');
      }),
    );
  },
);

it('a lost dispute takes only the part of the payment without an earlier refund', () => {
  const ctx = aCtx();
  const before = paidByCard(ctx);
  const [p] = before.payments;
  if (p === undefined) throw new Error('no payment');
  const s = hear(putPayment(before, { ...p, amountRefunded: 1000n }), 'dispute.outcome', {
    disputeId: 'dp_1',
    outcome: 'lost',
  });
  expect(s.entries).toMatchObject([
    { debit: 'disputed_payments', credit: 'mor_receivable', amount: { minor: 1990n, currency: 'EUR' } },
  ]);
});

it('several lost disputes of one payment together take at most the payment', () => {
  const outcome = { charge: 'ch_1', outcome: 'lost' };
  const amount = { amount: '20.00', currency: 'EUR' };
  let s = hear(paidByCard(), 'dispute.outcome', { ...outcome, disputeId: 'dp_1', amount });
  s = hear(s, 'dispute.outcome', { ...outcome, disputeId: 'dp_2', amount }, aCtx(), 'evt_2');
  s = hear(s, 'dispute.outcome', { ...outcome, disputeId: 'dp_3' }, aCtx(), 'evt_3');
  expect(s.entries.filter((e) => e.reason === 'dispute_lost').map((e) => e.amount.minor)).toEqual([2000n, 990n]);
  expect(open(s).map((r) => r.subject)).toEqual(['dp_1:lost', 'dp_2:lost', 'dp_3:lost']);
});

it('if the MoR answers an alert with a refund, Crossbill waits for the payment.refunded event and makes no refund', () => {
  const ctx = aCtx();
  let s = hear(paidByCard(ctx), 'pre_chargeback_alert.received', {
    alertId: 'al_1',
    payment: 'pay_1',
    dueBy: '2026-11-21T00:00:00Z',
  });
  expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1' }]);
  s = hear(s, 'pre_chargeback_alert.outcome', { alertId: 'al_1', refunded: true });
  expect(s.refunds).toEqual([]);
  expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1:outcome' }]);
  const [p] = s.payments;
  if (p === undefined) throw new Error('no payment');
  const refund = { ...newRefund(ctx, p, 2990n, null, 'event'), status: 'succeeded', succeededAt: NOW } as const;
  s = settle(putRefund(s, refund), ctx);
  expect(open(s)).toEqual([]);
  expect(s.refunds).toHaveLength(1);
});

it('a partial refund from a month ago does not count as the answer to an alert', () => {
  const ctx = aCtx();
  const before = paidByCard(ctx);
  const [p] = before.payments;
  if (p === undefined) throw new Error('no payment');
  const monthAgo = new Date(NOW.getTime() - 30 * 86_400_000);
  const part = { ...newRefund(ctx, p, 1000n, null, 'event'), status: 'succeeded', succeededAt: monthAgo } as const;
  let s = hear(settle(putRefund(before, part), ctx), 'pre_chargeback_alert.outcome', {
    alertId: 'al_1',
    payment: 'pay_1',
    refunded: true,
  });
  expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'alert:al_1:outcome' }]);
  const rest = { ...newRefund(ctx, p, 1990n, null, 'event'), status: 'succeeded', succeededAt: NOW } as const;
  s = settle(putRefund(s, rest), ctx);
  expect(open(s)).toEqual([]);
});

it('an alert and a dispute under the same payment id keep separate review items', () => {
  let s = hear(paidByCard(), 'pre_chargeback_alert.received', { payment: 'pay_1' });
  s = hear(s, 'dispute.action_needed', { payment: 'pay_1' });
  expect(open(s)).toHaveLength(2);
  s = hear(s, 'pre_chargeback_alert.outcome', { payment: 'pay_1', refunded: false });
  expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'pay_1' }]);
});

describe('a review item', () => {
  const about = { disputeId: 'dp_1', paymentReference: 'ch_1' };
  const dismiss = { resolution: 'dismiss', note: null, by: 'anna' } as const;

  it('the review item of a dispute follows a moved deadline', () => {
    let s = hear(paidByCard(), 'dispute.action_needed', { ...about, deadline: '2026-12-01T00:00:00Z' });
    expect(open(s)).toMatchObject([{ dueAt: new Date('2026-12-01T00:00:00Z') }]);
    s = hear(s, 'dispute.action_needed', { ...about, deadline: '2026-11-25T00:00:00Z' }, aCtx(), 'evt_moved');
    expect(withWords(open(s))).toMatchObject([
      { dueAt: new Date('2026-11-25T00:00:00Z'), summary: expect.stringContaining('2026-11-25') },
    ]);
    expect(s.reviews).toHaveLength(1);
  });

  it('a dismissed dispute item stays closed for the same deadline and opens again for another deadline', () => {
    let s = hear(paidByCard(), 'dispute.action_needed', { ...about, deadline: '2026-12-01T00:00:00Z' });
    const done = resolveReview(s, open(s)[0]?.id ?? '', dismiss, aCtx());
    if (!done.ok) throw new Error(done.message);
    s = hear(done.state, 'dispute.action_needed', { ...about, deadline: '2026-12-01T00:00:00Z' }, aCtx(), 'evt_same');
    expect(open(s)).toEqual([]);
    s = hear(s, 'dispute.action_needed', { ...about, deadline: '2026-11-25T00:00:00Z' }, aCtx(), 'evt_sooner');
    expect(open(s)).toMatchObject([{ kind: 'dispute', dueAt: new Date('2026-11-25T00:00:00Z') }]);
  });
});

// Disputes and alerts in the lane of their invoice, in every order of their events.
import { describe, expect, it } from '@jest/globals';
import * as fc from 'fast-check';
import { aCtx, hear, NOW, open, paidByCard } from '../../../../support/builders/channel-lane.js';
import { type LaneState } from '../../../../../src/shared/domain/model.js';
import { DAY_MS } from '../../../../../src/shared/policy.js';
import { resolveReview } from '../../../../support/rigs/decide.js';

const about = { disputeId: 'dp_1', paymentReference: 'ch_1', deadline: '2026-12-01T00:00:00Z' };

it.each(['won', 'lost'])(
  'a dispute %s by the merchant ends the same in every order of its events, with at most one ledger entry',
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

it('a pre-chargeback alert and a dispute about the same payment keep separate review items', () => {
  let s = hear(paidByCard(), 'pre_chargeback_alert.received', { payment: 'pay_1' });
  s = hear(s, 'dispute.action_needed', { payment: 'pay_1' });
  expect(open(s)).toHaveLength(2);
  s = hear(s, 'pre_chargeback_alert.outcome', { payment: 'pay_1', refunded: false });
  expect(open(s)).toMatchObject([{ kind: 'dispute', subject: 'pay_1' }]);
});

describe('a review item', () => {
  const about = { disputeId: 'dp_1', paymentReference: 'ch_1' };
  const dismiss = { resolution: 'dismiss', note: null, by: 'anna' } as const;

  it('a dismissed dispute item stays closed for the same deadline and opens again for another deadline', () => {
    let s = hear(paidByCard(), 'dispute.action_needed', { ...about, deadline: '2026-12-01T00:00:00Z' });
    const done = resolveReview(s, open(s)[0]?.id ?? '', dismiss, aCtx());
    if (!done.ok) throw new Error(done.message);
    for (const [id, days] of [
      ['evt_same', 0],
      ['evt_later', 2],
    ] as const) {
      const when = aCtx(new Date(NOW.getTime() + days * DAY_MS));
      s = hear(done.state, 'dispute.action_needed', { ...about, deadline: '2026-12-01T00:00:00Z' }, when, id);
      expect(open(s)).toEqual([]);
    }
    s = hear(s, 'dispute.action_needed', { ...about, deadline: '2026-11-25T00:00:00Z' }, aCtx(), 'evt_sooner');
    expect(open(s)).toMatchObject([{ kind: 'dispute', dueAt: new Date('2026-11-25T00:00:00Z') }]);
  });

  it('a dismissed item about an unclear outcome stays closed for the same outcome under a new event id', () => {
    const date = (days: number): Date => new Date(NOW.getTime() + days * DAY_MS);
    const at = (days: number) => aCtx(date(days));
    const tell = (state: LaneState, type: string, data: object, days: number): LaneState =>
      hear(state, type, { ...about, ...data }, at(days), `evt_${days}`, date(days).toISOString());
    const notified = (state: LaneState, days: number): LaneState =>
      tell(state, 'dispute.outcome', { outcome: 'partly' }, days);
    const first = notified(paidByCard(), 1);
    const done = resolveReview(first, open(first)[0]?.id ?? '', dismiss, at(2));
    if (!done.ok) throw new Error(done.message);
    const again = notified(done.state, 3);
    expect(open(again)).toEqual([]);
    const asked = tell(again, 'dispute.action_needed', {}, 4);
    const [item] = open(asked);
    const sent = resolveReview(asked, item?.id ?? '', dismiss, at(5));
    if (!sent.ok) throw new Error(sent.message);
    expect(open(notified(sent.state, 6))).toMatchObject([{ fact: { code: 'outcome-unclear' } }]); // after other news
  });
});

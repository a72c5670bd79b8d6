// A run of verify: its open differences, their identity, and its counts in words.
import { describe, expect, it } from '@jest/globals';
import { difference } from '../../../../src/verify/rules/compare.js';
import {
  acknowledgedOf,
  differenceId,
  showCounts,
  showMarksLeft,
  untoldByKind,
  untoldOf,
} from '../../../../src/verify/rules/run.js';

const known = {
  ...{ invoiceId: 'in_1', paymentId: 'pay_1', refundId: 'ref_1', eventId: 'evt_1', objectId: 'cn_1' },
  kind: 'refunded_by_hand',
  detail: 'credit note cn_1 gives back 3.00 EUR',
};

it('a difference keeps its id in the next run, and gets another one with any other fact', () => {
  expect(differenceId(known)).toMatch(/^dif_[0-9a-f]{24}$/);
  expect(differenceId({ ...known })).toBe(differenceId(known));
  const { kind: _, detail: __, ...ids } = known;
  const others = [
    ...Object.keys(ids).flatMap((name) => [{ [name]: 'other' }, { [name]: null }]),
    ...[{ kind: 'credited_by_hand' }, { detail: 'credit note cn_1 gives back 3.01 EUR' }],
    { invoiceId: 'pay_1', paymentId: 'in_1' },
  ];
  const all = [differenceId(known), ...others.map((over) => differenceId({ ...known, ...over }))];
  expect(new Set(all).size).toBe(all.length);
});

it('a difference with a review item or an acknowledgement is not open; differences beyond the limit are', () => {
  const one = difference('overpaid', 'person', '', {});
  const acknowledged = { ...one, acknowledged: { note: 'agreed', by: 'ada', at: new Date() } };
  const differences = [one, acknowledged, { ...one, reviewId: 'rev_1' }];
  const run = { differences, more: { overpaid: 2, explained: 7 } };
  expect(untoldByKind(run)).toMatchObject({ overpaid: 3, no_verdict: 0 });
  expect(untoldOf(run)).toBe(3);
  expect(acknowledgedOf(run)).toEqual([acknowledged]);
});

describe('the counts of a run', () => {
  it('have a singular', () => {
    expect(showCounts({ invoices: 1, stripe_events: 4, refunds: 0 })).toBe('1 invoice, 4 stripe events, 0 refunds');
    expect(showCounts({ stripe_events: 1, credit_notes: 1 })).toBe('1 stripe event, 1 credit note');
    expect(showCounts({})).toBe('');
  });

  it('stop at ten thousand marks', () => {
    expect([0, 9_999, 10_000].map(showMarksLeft)).toEqual(['0', '9999', '10000 or more']);
  });
});

// The log of a lane, written and read again: what a step left out is null, not what it was before.
import { expect, it } from '@jest/globals';
import { emptyLane, openReview } from '../../src/domain/lane/change.js';
import { type LaneState } from '../../src/domain/model.js';
import { fold, rowOf } from '../../src/store/lane-log.js';
import { aCtx, NOW } from '../support/channel-lane.js';

const ctx = aCtx();
const item = {
  kind: 'double_charge_risk',
  subject: 'in_1',
  summary: 'Stripe may charge',
  proposal: 'Remove the card',
} as const;

it('a review item whose deadline is gone has none when its log is read', () => {
  const first = openReview(emptyLane('in_1'), ctx, { ...item, dueAt: NOW });
  const second = openReview(first, ctx, { ...item, dueAt: null });
  const states: readonly LaneState[] = [emptyLane('in_1'), first, second];
  const rows = [first, second].map((after, n) => {
    const before = states[n] ?? after;
    const row = rowOf({ before, after, version: n + 1, at: NOW, atRest: true, snapshot: false });
    const change = JSON.parse(row.change) as Record<string, unknown>;
    return { lane: 'in_1', version: n + 1, at: NOW, change, bodies: null, at_rest: true, snapshot: false };
  });
  expect(second.reviews).toMatchObject([{ dueAt: null }]);
  expect(fold('in_1', rows).state.reviews).toEqual(second.reviews);
});

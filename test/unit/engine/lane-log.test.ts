// The log of a lane, written and read again: what a step left out is null, not what it was before.
import { FACTS } from '../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { emptyLane } from '../../../src/engine/context.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { fold, type LoggedRow, logRow } from '../../../src/engine/lane-log.js';
import { aCtx, NOW } from '../../support/builders/channel-lane.js';
import { aLink, asking } from '../../support/builders/channel-object.js';
import { lane } from '../../support/builders/waiting-payment.js';
import { openReview, takeCallBack } from '../../support/rigs/decide.js';

const ctx = aCtx();
const item = { kind: 'double_charge_risk', subject: 'in_1', fact: FACTS.double_charge_risk } as const;

it('if Crossbill removed the deadline of a review item, the item restored from the stored log has no deadline', () => {
  const first = openReview(emptyLane('in_1'), ctx, { ...item, dueAt: NOW });
  const second = openReview(first, ctx, { ...item, dueAt: null });
  const states: readonly LaneState[] = [emptyLane('in_1'), first, second];
  const rows = [first, second].map((after, n) => {
    const before = states[n] ?? after;
    const row = logRow({ before, after, version: n + 1, at: NOW, isIdle: true, snapshot: false });
    const change = JSON.parse(row.change) as Record<string, unknown>;
    return { lane: 'in_1', version: n + 1, at: NOW, change, bodies: null, at_rest: true, snapshot: false };
  });
  expect(second.reviews).toMatchObject([{ dueAt: null }]);
  expect(fold('in_1', rows).state.reviews).toEqual(second.reviews);
});

it('a snapshot of a lane keeps the request body of a withdrawn call, for a later send under the same key', () => {
  const { s, m } = asking(lane(), aLink({ status: 'REQUESTED', morId: null, url: null }));
  const after = takeCallBack(s, m, 'the invoice is paid', ctx);
  const { change, bodies, ...row } = logRow({
    ...{ before: s, after, version: 21, at: NOW, isIdle: true, snapshot: true },
  });
  const parsed = {
    change: JSON.parse(change) as LoggedRow['change'],
    bodies: JSON.parse(bodies ?? 'null') as LoggedRow['bodies'],
  };
  expect(fold(s.lane, [{ ...row, ...parsed }]).state.calls).toMatchObject([{ status: 'cancelled', wire: m.wire }]);
});

it.each([3, 99, '1', null])('Crossbill refuses to read a log row of the unknown format %j', (f) => {
  const row = { lane: 'in_1', version: 1, at: NOW, at_rest: true, snapshot: false, bodies: null };
  expect(() => fold('in_1', [{ ...row, change: { f } }])).toThrow('lane in_1');
  for (const known of [1, 2])
    expect(fold('in_1', [{ ...row, change: { f: known } }])).toMatchObject({ version: 1, rowsSinceSnapshot: 1 });
});

// The log of a lane, written and read again: what a step left out is null, not what it was before.
import { describe, expect, it } from '@jest/globals';
import { emptyLane, openReview, takeCallBack } from '../../src/domain/lane/change.js';
import { type LaneState } from '../../src/domain/model.js';
import { fold, type LoggedRow, rowOf, wantsSnapshot } from '../../src/store/lane-log.js';
import { aCtx, NOW } from '../support/channel-lane.js';
import { aLink, asking } from '../support/channel-object.js';
import { lane } from '../support/waiting-payment.js';

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

it('a row with the whole state keeps the bytes of a call that was taken back: it may be asked for under its key after all', () => {
  const { s, m } = asking(lane(), aLink({ status: 'REQUESTED', morId: null, url: null }));
  const after = takeCallBack(s, m, 'the invoice is paid', ctx);
  const { change, bodies, ...row } = rowOf({
    ...{ before: s, after, version: 21, at: NOW, atRest: true, snapshot: true },
  });
  const parsed = {
    change: JSON.parse(change) as LoggedRow['change'],
    bodies: JSON.parse(bodies ?? 'null') as LoggedRow['bodies'],
  };
  expect(fold(s.lane, [{ ...row, ...parsed }]).state.messages).toMatchObject([{ status: 'cancelled', wire: m.wire }]);
});

describe('a log that a newer release beside this one writes too', () => {
  const logged = (version: number, change: object): LoggedRow => ({
    ...{ lane: 'in_1', version, at: NOW, at_rest: true, snapshot: false, bodies: null },
    change: { f: 1, ...change },
  });
  const wants = (first: object, rows: number): boolean =>
    wantsSnapshot(fold('in_1', [logged(1, first), ...Array.from({ length: rows - 1 }, (_, n) => logged(n + 2, {}))]));
  const invoice = { invoice_id: 'in_1', status: 'open' };

  it.each([
    ['a field', { invoice: [{ ...invoice, of_tomorrow: 'x' }] }],
    ['a part', { invoice: [invoice], parts_of_tomorrow: [{ id: 'x' }] }],
  ])('is not summed up by this one, which does not know %s of it', (_, first) => {
    expect(wants({ invoice: [invoice] }, 20)).toBe(true);
    expect(wants(first, 20)).toBe(false);
    expect(wants(first, 199)).toBe(false);
  });

  it('is summed up in the end: the field may be one that is gone since', () => {
    expect(wants({ invoice: [{ ...invoice, of_yesterday: 'x' }] }, 200)).toBe(true);
  });
});

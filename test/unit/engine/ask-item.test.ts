// A review item without a rule behind it: a rule opens it, and a person ends it.
import { expect, it } from '@jest/globals';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { emptyLane } from '../../../src/engine/context.js';
import { aCtx, NOW } from '../../support/builders/channel-lane.js';
import { closeReviews, openReview } from '../../support/rigs/decide.js';
import { aKind, FACTS } from '../../support/builders/item-facts.js';

const LATER = new Date(NOW.getTime() + 60_000);
const ctx = aCtx();
const later = aCtx(LATER);
const lane = emptyLane('in_1');

const ITEM = { kind: 'amount_mismatch', subject: 'pmt_1', fact: FACTS.amount_mismatch } as const;
const MORE = { ...FACTS.amount_mismatch, taken: { minor: 2000n, currency: 'EUR' } } as const;
const opened = openReview(lane, ctx, { ...ITEM, paymentRowId: 'pmt_1' });
const closed = (how: Parameters<typeof closeReviews>[3], state = opened): LaneState =>
  closeReviews(state, later, () => true, how);

it('Crossbill opens a review item once, with a line in the timeline', () => {
  expect(opened.reviews).toMatchObject([
    {
      ...ITEM,
      status: 'open',
      invoiceId: null,
      paymentRowId: 'pmt_1',
      refundId: null,
      dueAt: null,
      createdAt: NOW,
      resolution: null,
    },
  ]);
  expect(opened.journal.map((l) => l.text)).toEqual(['review item amount_mismatch: amount-differs']);
  expect(openReview(opened, later, { ...ITEM, fact: { ...FACTS.amount_mismatch } })).toBe(opened);
  expect(openReview(opened, later, { ...ITEM, subject: 'pmt_2' }).reviews).toHaveLength(2);
  expect(openReview(opened, later, { ...ITEM, ...aKind('dispute') }).reviews).toHaveLength(2);
});

it('if a rule asks for an already open review item with a new deadline, the item takes the new deadline and the new fact', () => {
  const due = openReview(opened, later, { ...ITEM, fact: MORE, dueAt: LATER });
  expect(due.reviews).toMatchObject([{ fact: MORE, dueAt: LATER, createdAt: NOW }]);
  expect(due.journal.at(-1)?.text).toBe('review item amount_mismatch has another deadline: amount-differs');
  expect(openReview(due, later, { ...ITEM, fact: MORE, dueAt: new Date(LATER) })).toBe(due);
});

it('if a rule asks for an already open review item with new sums, the item takes the sums, and no second item opens', () => {
  const now = openReview(opened, later, { ...ITEM, fact: MORE });
  expect(now.reviews).toEqual([{ ...opened.reviews[0], fact: MORE }]);
  expect(now.journal.at(-1)?.text).toBe('review item amount_mismatch is now: amount-differs');
  expect(openReview(now, later, { ...ITEM, fact: { ...MORE } })).toBe(now);
});

it('if a rule asks again for an open review item with a different fact code, the item keeps its first fact', () => {
  const fact = { code: 'rest-due', status: 'open', due: MORE.due } as const;
  expect(openReview(opened, later, { ...ITEM, fact })).toBe(opened);
});

it('a dismissed review item stays closed for the same fact, and a different fact opens a new item', () => {
  const gone = closed({ by: 'ops', resolution: 'dismiss', note: 'seen' });
  expect(openReview(gone, later, ITEM)).toBe(gone);
  expect(openReview(gone, later, { ...ITEM, fact: MORE }).reviews).toHaveLength(2);
  expect(openReview(gone, later, { ...ITEM, subject: 'pmt_2' }).reviews).toHaveLength(2);
  const cleared = closed({ by: null, resolution: 'cleared', note: null });
  expect(openReview(cleared, later, ITEM).reviews).toHaveLength(2);
  // Stripe says one failed finalization in two wordings.
  const failed = { kind: 'finalization_failed', subject: 'in_1', fact: FACTS.finalization_failed } as const;
  const dismissed = closed({ by: 'ops', resolution: 'dismiss', note: null }, openReview(lane, ctx, failed));
  const reworded = { ...FACTS.finalization_failed, said: 'in other words' };
  expect(openReview(dismissed, later, { ...failed, fact: reworded })).toBe(dismissed);
});

it("the timeline names the operator or the cause behind a closed review item, and never the operator's note", () => {
  const byOps = closed({ by: 'ops', resolution: 'refund', note: 'private words' });
  expect(byOps.reviews).toMatchObject([
    { status: 'resolved', resolvedAt: LATER, resolvedBy: 'ops', resolution: 'refund', note: 'private words' },
  ]);
  expect(byOps.journal.at(-1)).toMatchObject({
    kind: 'person',
    text: 'review item amount_mismatch closed: refund, by ops',
  });
  const byItself = closed({ by: null, resolution: 'cleared', note: 'the money came' });
  expect(byItself.reviews).toMatchObject([{ resolvedBy: 'crossbill', note: 'the money came' }]);
  expect(byItself.journal.at(-1)).toMatchObject({
    kind: 'decision',
    text: 'review item amount_mismatch closed: the money came',
  });
  expect(closed({ by: null, resolution: 'cleared', note: null }).journal.at(-1)?.text).toBe(
    'review item amount_mismatch closed: cleared',
  );
  expect(closed({ by: null, resolution: 'cleared', note: null }, byOps)).toBe(byOps);
  expect(closeReviews(opened, later, () => false, { by: null, resolution: 'cleared', note: null })).toBe(opened);
});

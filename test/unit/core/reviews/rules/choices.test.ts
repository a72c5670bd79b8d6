// What a person may choose for each kind of review item, and what is said where a refund cannot be chosen yet.
import { aKind } from '../../../../support/builders/item-facts.js';
import { expect, it } from '@jest/globals';
import { emptyLane } from '../../../../../src/engine/context.js';
import { type ReviewKind } from '../../../../../src/shared/domain/fact.js';
import { type Resolution, type ReviewRow, REVIEW } from '../../../../../src/shared/domain/review-row.js';
import { isNoteNeeded, proposalOf, resolutionsOf } from '../../../../../src/core/reviews/rules/choices.js';
import { isKnownItem, sentencesOf } from '../../../../../src/core/reviews/rules/words.js';
import { aCtx } from '../../../../support/builders/channel-lane.js';
import { fromRow, toJson } from '../../../../../src/frames/store/codec.js';
import { impactOf } from '../../../../../src/core/reviews/rules/impact.js';
import { resolveReview, openReview } from '../../../../support/rigs/decide.js';
import { never } from '../../../../support/never.js';

const item = (kind: ReviewKind, over: Partial<ReviewRow> = {}): ReviewRow => ({
  ...(openReview(emptyLane('in_1'), aCtx(), {
    ...{ ...aKind(kind), subject: 'pmt_1', paymentRowId: 'pmt_1' },
  }).reviews[0] ?? never()),
  ...over,
});

it.each<[ReviewKind, Resolution[]]>([
  ['amount_mismatch', ['apply', 'refund', 'retry', 'dismiss']],
  ['customer_mismatch', ['apply', 'refund', 'retry', 'dismiss']],
  ['double_payment', ['refund', 'retry', 'dismiss']],
  ['currency_mismatch', ['refund', 'retry', 'dismiss']],
  ['invoice_not_payable', ['refund', 'retry', 'dismiss']],
  ['signup_unproven', ['apply', 'retry', 'dismiss']],
  ['refund_stuck', ['apply', 'retry', 'dismiss']],
  ['effect_failed', ['retry', 'dismiss']],
  ['finalization_failed', ['retry', 'dismiss']],
  ['renewal_overdue', ['retry', 'dismiss']],
  ['partial_transfer', ['apply', 'dismiss']],
  ['dispute', ['dismiss']],
  ['debit_returned', ['dismiss']],
  ['conflicting_event', ['dismiss']],
  ['refund_gap', ['dismiss']],
  ['signup_overdue', ['dismiss']],
])('the choices of a %s item are %j, with refund only for a payment with an id', (kind, may) => {
  expect(resolutionsOf(item(kind), true)).toEqual(may);
  expect(resolutionsOf(item(kind), false)).toEqual(may.filter((x) => x !== 'refund'));
});

it('a review item offers only the actions that its rule allows', () => {
  const failed = { actions: ['retry', 'dismiss'] } as const;
  expect(resolutionsOf(item('refund_stuck', failed), true)).toEqual(['retry', 'dismiss']);
  expect(resolutionsOf(item('double_payment', { actions: ['dismiss'] }), true)).toEqual(['dismiss']);
});

it('an operator must give a note only to end a stuck refund as failed', () => {
  expect(isNoteNeeded(item('refund_stuck'), 'apply')).toBe(true);
  expect(isNoteNeeded(item('refund_stuck'), 'retry')).toBe(false);
  expect(isNoteNeeded(item('amount_mismatch'), 'apply')).toBe(false);
});

it('if a refund needs a missing payment id, the review item says to enter the payment id first', () => {
  const said = proposalOf(item('double_payment'), false);
  expect(said).toContain(" `refund` needs the MoR's id of the payment first.");
  const plain: [ReviewRow, boolean][] = [
    [item('double_payment'), true],
    [item('double_payment', { status: 'resolved' }), false],
    [item('double_payment', { paymentRowId: null }), false],
    [item('dispute'), false],
  ];
  for (const [r, named] of plain) expect(proposalOf(r, named)).toBe(sentencesOf(r).proposal);
});

const ofTomorrow = (over: object): ReviewRow =>
  fromRow(REVIEW, { ...toJson(REVIEW, item('amount_mismatch')), created_at: new Date(), ...over });

it.each<[string, object]>([
  ['kind', { kind: 'kind_of_tomorrow' }],
  ['fact', { topic: 'of-tomorrow', fact: { code: 'of-tomorrow', sum: { minor: 'many' } } }],
  ['fact without a code', { fact: 'text' }],
])(
  'a review item with an unknown %s has sentences and no choice, and Crossbill leaves it to the newer release',
  (_, over) => {
    const r = ofTomorrow(over);
    const { summary, proposal } = sentencesOf(r);
    expect(`${summary} ${proposal} ${impactOf(r)}`).not.toMatch(/undefined|\[object/);
    expect([resolutionsOf(r, true), isKnownItem(r)]).toEqual([[], false]);
    const done = resolveReview(
      { ...emptyLane('in_1'), reviews: [r] },
      r.id,
      { resolution: 'dismiss', note: null, by: 'ada' },
      aCtx(),
    );
    expect(done).toMatchObject({ ok: false, status: 409, code: 'newer_format' });
  },
);

it('a review item whose fact has other fields than this release writes has sentences and its choices', () => {
  const r = ofTomorrow({ fact: { code: 'amount-differs', taken: 3 } });
  expect(sentencesOf(r).summary).toContain('amount-differs');
  expect(resolutionsOf(r, true)).toEqual(['apply', 'refund', 'retry', 'dismiss']);
});

it('Crossbill offers no choice of a newer release', () => {
  expect(resolutionsOf(ofTomorrow({ actions: ['dismiss', 'choice_of_tomorrow'] }), true)).toEqual(['dismiss']);
});

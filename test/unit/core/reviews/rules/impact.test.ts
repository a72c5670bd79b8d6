// What is at stake in a review item, and which of its choices is one click away.
import { expect, it } from '@jest/globals';
import { aKind, FACTS } from '../../../../support/builders/item-facts.js';
import { type ReviewKind } from '../../../../../src/shared/domain/fact.js';
import { type ReviewRow } from '../../../../../src/shared/domain/review-row.js';
import { type Item, newReview } from '../../../../../src/shared/domain/item.js';
import { isDoneElsewhere, proposedOf, resolutionsOf } from '../../../../../src/core/reviews/rules/choices.js';
import { impactOf } from '../../../../../src/core/reviews/rules/impact.js';

function item(kind: ReviewKind, choices: Pick<Item, 'actions' | 'proposed'> = {}): ReviewRow {
  const about = { ...aKind(kind), ...choices, subject: 'pmt_1', invoiceId: 'in_oak', paymentRowId: 'pmt_1' };
  return newReview(about, 'rev_1', new Date('2026-11-20T12:00:00Z'));
}

const REFUND = { proposed: 'refund' } as const;

it.each(Object.keys(FACTS) as ReviewKind[])(
  'a review item of kind %s states what is at stake and proposes only an allowed choice',
  (kind) => {
    expect(impactOf(item(kind))).toMatch(/^[A-Z].*\.$/);
    for (const named of [true, false]) {
      const proposed = proposedOf(item(kind, REFUND), named);
      if (proposed !== null) expect(resolutionsOf(item(kind, REFUND), named)).toContain(proposed);
    }
  },
);

it('a review item proposes a refund only if its rule proposes the refund and the payment has an id', () => {
  expect(proposedOf(item('double_payment', REFUND), true)).toBe('refund');
  expect(proposedOf(item('double_payment', REFUND), false)).toBeNull();
  expect(proposedOf(item('double_payment'), true)).toBeNull();
  expect(proposedOf(item('customer_mismatch'), true)).toBeNull();
  expect(proposedOf(item('refund_stuck'), true)).toBeNull();
});

it("a dispute item proposes the choice `dismiss`, because the work is done in the MoR's portal", () => {
  expect([proposedOf(item('dispute'), true), isDoneElsewhere(item('dispute'), true)]).toEqual(['dismiss', true]);
  expect(proposedOf(item('finalization_failed'), true)).toBe('retry');
  expect(proposedOf(item('partial_transfer'), true)).toBe('apply');
  expect(isDoneElsewhere(item('effect_failed'), true)).toBe(false);
});

// What is at stake in a review item, and which of its choices is one click away.
import { describe, expect, it } from '@jest/globals';
import { type ReviewKind, type ReviewRow } from '../../src/domain/model.js';
import { REVIEW_KINDS } from '../../src/reviews/review.view.js';
import { resolutionsOf } from '../../src/reviews/rules/choices.js';
import { type Case, decideForm } from '../../src/reviews/review-page.js';
import { isDoneElsewhere, proposedOf, stakeOf } from '../../src/reviews/rules/stake.js';

function item(kind: string, proposal = 'Find out at the MoR.'): ReviewRow {
  const at = new Date('2026-11-20T12:00:00Z');
  const none = { refundId: null, dueAt: null, resolvedAt: null, resolvedBy: null, resolution: null, note: null };
  const ids = { id: 'rev_1', invoiceId: 'in_oak', paymentRowId: 'pmt_1', subject: 'pmt_1' };
  return { ...none, ...ids, kind: kind as ReviewKind, status: 'open', summary: 'x', proposal, createdAt: at };
}

describe('a review item', () => {
  it.each(REVIEW_KINDS)('of kind %s says what is at stake, and proposes only what may be chosen', (kind) => {
    expect(stakeOf(item(kind))).toMatch(/^[A-Z].*\.$/);
    for (const named of [true, false]) {
      const proposed = proposedOf(item(kind, 'Refund 29.90 EUR.'), named);
      if (proposed !== null) expect(resolutionsOf(item(kind, 'Refund 29.90 EUR.'), named)).toContain(proposed);
    }
  });

  it('gives money back with one click only where that is what is proposed, and the payment has a name', () => {
    expect(proposedOf(item('double_payment', 'Refund 29.90 EUR.'), true)).toBe('refund');
    expect(proposedOf(item('double_payment', 'Refund 29.90 EUR.'), false)).not.toBe('refund');
    expect(proposedOf(item('double_payment', 'Ask the MoR. Refund it only if so.'), true)).toBeNull();
    expect(proposedOf(item('customer_mismatch', 'Find out whose money it is; otherwise refund it.'), true)).toBeNull();
    expect(proposedOf(item('refund_stuck'), true)).toBeNull();
  });

  it('that is answered elsewhere is closed with one click', () => {
    expect([proposedOf(item('dispute'), true), isDoneElsewhere(item('dispute'), true)]).toEqual(['dismiss', true]);
    expect(proposedOf(item('finalization_failed'), true)).toBe('retry');
    expect(proposedOf(item('partial_transfer'), true)).toBe('apply');
    expect(isDoneElsewhere(item('effect_failed'), true)).toBe(false);
  });

  it('about a refund that failed offers no button to send it again, one about a refund that waits does', () => {
    const session = { name: 'ada', role: 'ops', id: 's', formToken: 't', expiresAt: new Date(0) } as const;
    const form = (subject: string): string => {
      const review = { ...item('refund_stuck'), refundId: 'ref_1', subject };
      const about: Case = { review, payment: 'pay_1', named: true, invoice: null };
      return String(decideForm(session, about, null));
    };
    expect(form('ref_1')).toContain('Send it again');
    expect(form('ref_1:failed')).not.toContain('Send it again');
    expect(form('ref_1:failed')).toContain('Ask for a new refund on the page of the payment.');
  });
});

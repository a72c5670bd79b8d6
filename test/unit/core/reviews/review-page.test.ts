import { expect, it } from '@jest/globals';
import { newReview } from '../../../../src/shared/domain/item.js';
import { settledNote, whereItIs } from '../../../../src/core/reviews/review-page.js';
import { NOW } from '../../../support/builders/channel-lane.js';
import { eur } from '../../../support/builders/channel-object.js';

it('the console never calls an open review item settled, even if more open items come before it than the console counts', () => {
  const beyond = { open: 200, more: true, at: null, previous: null, next: 'rev_1', first: 'rev_1' };
  const isSettled = (isOpen: boolean): boolean => String(whereItIs(beyond, isOpen)).includes('Settled');
  expect([isSettled(true), isSettled(false)]).toEqual([false, true]);
});

it('after the part payment of a grown invoice, the console offers a payment link for the rest', () => {
  const fact = { code: 'amount-grew', drafted: eur(1000n), due: eur(4200n), taken: eur(1000n) } as const;
  const item = { kind: 'amount_mismatch', subject: 'pmt_1', invoiceId: 'in_1' } as const;
  const open = newReview({ ...item, fact: { ...fact, marking: 'payment_record' } }, 'rev_1', NOW);
  const note = (resolution: 'apply' | 'refund') => String(settledNote({ ...open, status: 'resolved', resolution }));
  expect(note('apply')).toContain('/console/invoices/in_1/payment-link');
  expect(note('refund')).not.toContain('payment-link');
});

// The words of a comparison.
import { expect, it } from '@jest/globals';
import { showCounts } from '../../../../src/shared/domain/difference.js';

it('the command `crossbill verify` writes a count of one in the singular', () => {
  expect(showCounts({ invoices: 1, stripe_events: 4, refunds: 0 })).toBe('1 invoice, 4 stripe events, 0 refunds');
  expect(showCounts({ stripe_events: 1, credit_notes: 1 })).toBe('1 stripe event, 1 credit note');
  expect(showCounts({})).toBe('');
});

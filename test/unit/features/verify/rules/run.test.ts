// A run of verify: its open differences, and its counts in words.
import { expect, it } from '@jest/globals';
import { finding } from '../../../../../src/features/verify/rules/findings.js';
import {
  acknowledgedOf,
  openOf,
  showMarksLeft,
  unnotifiedByKind,
  unnotifiedOf,
} from '../../../../../src/features/verify/rules/run.js';

it('a verify run counts a difference without an acknowledgement as open, and as unreported if it also has no review item', () => {
  const one = finding.overpaid({}, { surplus: { minor: 1n, currency: 'EUR' }, refunded: null });
  const acknowledged = { ...one, acknowledged: { note: 'agreed', by: 'ada', at: new Date() } };
  const differences = [one, acknowledged, { ...one, reviewId: 'rev_1' }];
  const run = { differences, more: { overpaid: 2, with_item: 7 } };
  expect(unnotifiedByKind(run)).toMatchObject({ overpaid: 3, no_verdict: 0 });
  expect(unnotifiedOf(run)).toBe(3);
  expect(openOf(run)).toBe(11);
  expect(acknowledgedOf(run)).toEqual([acknowledged]);
});

it('the command `crossbill verify` shows "10000 or more" from ten thousand marks still to look up', () => {
  expect([0, 9_999, 10_000].map(showMarksLeft)).toEqual(['0', '9999', '10000 or more']);
});

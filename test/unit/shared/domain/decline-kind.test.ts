// What a decline code calls for.
import { expect, it } from '@jest/globals';
import { findRefusalKind } from '../../../../src/shared/domain/decline-kind.js';

it.each([
  ['insufficient_funds', 'soft'],
  ['do_not_honor', 'soft'],
  ['generic_decline', 'soft'],
  ['try_again_later', 'soft'],
  ['a_code_of_tomorrow', 'soft'],
  [null, 'soft'],
  ['lost_card', 'hard'],
  [' Stolen_Card ', 'hard'],
  ['revocation_of_all_authorizations', 'hard'],
  ['expired_card', 'hard'],
  ['debit_not_authorized', 'hard'],
  ['authentication_required', 'authentication'],
])('Crossbill treats a failed payment with the decline code %s as %s', (code, kind) => {
  expect(findRefusalKind('failed', code)).toBe(kind);
});

it('a payment with the outcome `requires_action` needs authentication, unless its decline code is hard', () => {
  expect(findRefusalKind('requires_action', null)).toBe('authentication');
  expect(findRefusalKind('requires_action', 'insufficient_funds')).toBe('authentication');
  expect(findRefusalKind('requires_action', 'stolen_card')).toBe('hard');
});

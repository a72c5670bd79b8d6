// What a decline code calls for.
import { describe, expect, it } from '@jest/globals';
import { findRefusalKind } from '../../../src/domain/decline-kind.js';

describe('a decline code', () => {
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
  ])('%s of a payment that failed is %s', (code, kind) => {
    expect(findRefusalKind('failed', code)).toBe(kind);
  });

  it('a payment that needs the customer is for authentication, whatever its code, unless the card is out of use', () => {
    expect(findRefusalKind('requires_action', null)).toBe('authentication');
    expect(findRefusalKind('requires_action', 'insufficient_funds')).toBe('authentication');
    expect(findRefusalKind('requires_action', 'stolen_card')).toBe('hard');
  });
});

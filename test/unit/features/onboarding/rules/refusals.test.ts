// The refusals of a step of a merchant's onboarding.
import { expect, it } from '@jest/globals';
import {
  begunWithCompany,
  inShadow,
  malformed,
  mor,
  notConfigured,
  notListed,
  rejectedForGood,
  unknownMerchant,
} from '../../../../../src/features/onboarding/rules/refusals.js';
import { refusal } from '../../../../support/asked-refund.js';

it.each([
  ['of an unknown merchant', unknownMerchant, 404, 'not_found'],
  ['of a merchant missing from the list of the MoR', notListed, 409, 'onboarding_not_started'],
  ['next to an unanswered application with company details', begunWithCompany, 409, 'onboarding_begun'],
  ['of a rejected application', rejectedForGood, 409, 'invalid_status'],
  ['in shadow mode', inShadow, 409, 'shadow_mode'],
  ['without partner credentials', notConfigured, 409, 'onboarding_not_configured'],
])('Crossbill refuses an onboarding step %s', (_, said, status, code) => {
  expect(said()).toMatchObject({ ok: false, why: 'refused', status, code, errors: [] });
});

it('the refusal of a malformed onboarding request names its first wrong field in the message and each field in the errors', () => {
  const errors = [
    { field: 'email', message: 'is missing' },
    { field: 'country', message: 'is unknown' },
  ];
  const checked = { ok: false, code: 'invalid_request', errors } as const;
  expect(malformed(checked)).toMatchObject({
    ...{ ok: false, why: 'refused', status: 400, code: 'invalid_request', message: 'email: is missing', errors },
  });
  expect(malformed({ ...checked, errors: [] })).toMatchObject({ message: 'The request is malformed.', errors: [] });
});

it('a caller can repeat an onboarding step after a failure at the MoR, unless the step would fail the same way again', () => {
  const failure = refusal();
  expect(mor(failure)).toEqual({ ok: false, why: 'mor', failure, again: true });
  expect(mor(failure, false)).toEqual({ ok: false, why: 'mor', failure, again: false });
});

// Why a step of a merchant's onboarding was not taken, as the caller is told.
import { expect, it } from '@jest/globals';
import {
  begunWithCompany,
  inShadow,
  malformed,
  mor,
  notConfigured,
  notListed,
  unknownMerchant,
} from '../../src/onboarding/rules/refusals.js';
import { refusal } from '../support/asked-refund.js';

it.each([
  ['of a merchant that is not there', unknownMerchant, 404, 'not_found'],
  ['of a merchant that the MoR does not list yet', notListed, 409, 'onboarding_not_started'],
  ['beside an application with company details that was not answered', begunWithCompany, 409, 'onboarding_begun'],
  ['in shadow mode', inShadow, 409, 'shadow_mode'],
  ['without partner credentials', notConfigured, 409, 'onboarding_not_configured'],
])('a step %s is refused', (_, said, status, code) => {
  expect(said()).toMatchObject({ ok: false, why: 'refused', status, code, errors: [] });
});

it('a malformed request is refused with its first field, and all of them named', () => {
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

it('what the MoR did not do may be asked for again, unless it would fail the same way', () => {
  const failure = refusal();
  expect(mor(failure)).toEqual({ ok: false, why: 'mor', failure, again: true });
  expect(mor(failure, false)).toEqual({ ok: false, why: 'mor', failure, again: false });
});

// The reasons against a step of an onboarding, in words.
import { type CallFailure, SHADOW_MESSAGE, SHADOW_MODE } from '../../domain/ports/call.js';

export type OnboardingFailed =
  | {
      readonly ok: false;
      readonly why: 'refused';
      readonly status: 400 | 404 | 409;
      readonly code: string;
      readonly message: string;
      readonly errors: readonly { readonly field: string; readonly message: string }[];
    }
  /** The MoR did not do it. `again`: false: the same request would fail the same way. */
  | { readonly ok: false; readonly why: 'mor'; readonly failure: CallFailure; readonly again: boolean };

export function mor(failure: CallFailure, again = true): OnboardingFailed {
  return { ok: false, why: 'mor', failure, again };
}

export function malformed(
  checked: Pick<Extract<OnboardingFailed, { why: 'refused' }>, 'code' | 'errors'>,
): OnboardingFailed {
  const [first] = checked.errors;
  const message = first === undefined ? 'The request is malformed.' : `${first.field}: ${first.message}`;
  return { ok: false, why: 'refused', status: 400, code: checked.code, message, errors: checked.errors };
}

export function unknownMerchant(): OnboardingFailed {
  const message = 'There is no such merchant.';
  return { ok: false, why: 'refused', status: 404, code: 'not_found', message, errors: [] };
}

export function notListed(): OnboardingFailed {
  const message = 'The MoR does not list this merchant yet: send POST /v1/onboarding/merchants again first.';
  return { ok: false, why: 'refused', status: 409, code: 'onboarding_not_started', message, errors: [] };
}

export function begunWithCompany(): OnboardingFailed {
  const message =
    'A request with company details under this reference has no answer from the MoR: send it again. Otherwise the MoR would make a merchant without them for good.';
  return { ok: false, why: 'refused', status: 409, code: 'onboarding_begun', message, errors: [] };
}

export function inShadow(): OnboardingFailed {
  return { ok: false, why: 'refused', status: 409, code: SHADOW_MODE, message: SHADOW_MESSAGE, errors: [] };
}

export function notConfigured(): OnboardingFailed {
  const message = 'Onboarding needs partner credentials: MOR_PARTNER_CLIENT_ID and MOR_PARTNER_CLIENT_SECRET.';
  return { ok: false, why: 'refused', status: 409, code: 'onboarding_not_configured', message, errors: [] };
}

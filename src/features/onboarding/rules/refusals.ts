// The reasons against a step of an onboarding, in words.
import { type CallFailure, SHADOW_MESSAGE, SHADOW_MODE } from '../../../shared/domain/ports/call.js';

type FieldErrors = readonly { readonly field: string; readonly message: string }[];

export type OnboardingFailed =
  | {
      readonly ok: false;
      readonly why: 'refused';
      readonly status: 400 | 404 | 409;
      readonly code: string;
      readonly message: string;
      readonly errors: FieldErrors;
    }
  /** The MoR refused or did not answer. `again` false: the same request would fail the same way. */
  | { readonly ok: false; readonly why: 'mor'; readonly failure: CallFailure; readonly again: boolean };

export function mor(failure: CallFailure, again = true): OnboardingFailed {
  return { ok: false, why: 'mor', failure, again };
}

function refused(status: 400 | 404 | 409, code: string, message: string, errors: FieldErrors = []): OnboardingFailed {
  return { ok: false, why: 'refused', status, code, message, errors };
}

export function malformed({ code, errors }: { readonly code: string; readonly errors: FieldErrors }): OnboardingFailed {
  const [first] = errors;
  const message = first === undefined ? 'The request is malformed.' : `${first.field}: ${first.message}`;
  return refused(400, code, message, errors);
}

export const unknownMerchant = (): OnboardingFailed => refused(404, 'not_found', 'There is no such merchant.');

export function notListed(): OnboardingFailed {
  const message = 'The MoR does not list this merchant yet: send POST /v1/onboarding/merchants again first.';
  return refused(409, 'onboarding_not_started', message);
}

export function begunWithCompany(): OnboardingFailed {
  const message =
    'The MoR has not answered an earlier request with company details for this reference: send that request again. Otherwise the merchant would have no details for good.';
  return refused(409, 'onboarding_begun', message);
}

export function rejectedForGood(): OnboardingFailed {
  return refused(409, 'invalid_status', 'The MoR rejected it for good: start again with another reference.');
}

export const inShadow = (): OnboardingFailed => refused(409, SHADOW_MODE, SHADOW_MESSAGE);

export function notConfigured(): OnboardingFailed {
  const message = 'Onboarding needs partner credentials: set MOR_PARTNER_CLIENT_ID and MOR_PARTNER_CLIENT_SECRET.';
  return refused(409, 'onboarding_not_configured', message);
}

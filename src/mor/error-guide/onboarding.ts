// Errors of Document 1: merchants, applications, submission.
import { type ErrorRow } from './types.js';

export const onboardingErrors: readonly ErrorRow[] = [
  {
    calls: ['onboarding.initiate'],
    status: 400,
    code: 'invalid_argument',
    advice: 'A required field of the company is missing or blank: fill in the fields named and start again.',
  },
  {
    calls: ['onboarding.initiate'],
    status: 500,
    code: 'internal_error',
    advice: 'The MoR could not read the request, and would not next time either: look at gmvTier and the field types.',
  },
  {
    calls: ['merchant.create'],
    status: 400,
    code: 'validation_error',
    advice: 'The merchant reference is missing or blank: send one.',
  },
  {
    calls: ['merchant.create'],
    status: 409,
    code: 'duplicate_reference',
    advice: 'The reference is taken by a merchant of this partner: go on with that merchant.',
  },
  {
    calls: ['application.put', 'application.patch'],
    status: 400,
    code: 'validation_error',
    advice: 'Correct the fields named; the product code must be the one sent first and regions must not be empty.',
  },
  {
    calls: ['application.put', 'application.patch'],
    status: 409,
    code: 'invalid_status',
    advice:
      'The application can be changed only before it is submitted or after changes were requested: read its status.',
  },
  {
    calls: ['application.submit'],
    status: 409,
    code: 'invalid_status',
    advice: 'The application was submitted before: read its status and wait for the review.',
  },
  {
    calls: ['application.submit'],
    status: 400,
    code: 'incomplete_application',
    advice: 'Requirements are still due: supply what the errors name (checkoutUrl means storeUrls) and submit again.',
  },
  {
    calls: ['merchant.read', 'application.read', 'application.put', 'application.patch', 'application.submit'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such merchant for this partner, or the merchant has no application yet.',
  },
];

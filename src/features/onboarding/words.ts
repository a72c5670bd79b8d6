// What Crossbill says about a merchant's onboarding: refusals, notices, and the next step in one sentence.
import { refuse } from '../../engine/commanded.js';

export const REFUSALS = {
  notConfigured: refuse(
    409,
    'onboarding_not_configured',
    'Onboarding needs partner credentials: set MOR_PARTNER_CLIENT_ID and MOR_PARTNER_CLIENT_SECRET.',
  ),
  notListed: refuse(
    409,
    'onboarding_not_started',
    'The MoR does not list this merchant yet: send POST /v1/onboarding/merchants again first.',
  ),
  begun: refuse(
    409,
    'onboarding_begun',
    'The MoR has not answered an earlier request with company details for this reference: send that request again. Otherwise the merchant would have no details for good.',
  ),
  rejected: refuse(409, 'invalid_status', 'The MoR rejected it for good: start again with another reference.'),
} as const;

/** After 500 `internal_error` the MoR answers the same body with the same error (Document 1, initiate, rule 3). */
export const UNREADABLE =
  'The MoR could not read this request (500 internal_error). A repeat would fail again: correct it first.';

/** `discarded`: the company details of this request. `without-company`: the merchant has none, for good. */
export type Notice = 'discarded' | 'without-company';
export const NOTICES: Readonly<Record<Notice, string>> = {
  discarded:
    'An application already exists for this reference and stays as it is. The company details of this request are discarded: you can give them only once. For another product or company, use another reference.',
  'without-company':
    'This merchant has no company details, and the MoR takes none later. If the reviewer needs them, start again under another reference, with the details.',
};

/** The API route for each requirement of Document 1. */
const MEANS: Readonly<Record<string, string>> = {
  products: 'the product (PUT .../product)',
  selectedRegions: 'the regions (PUT .../product)',
  businessDescription: 'businessDescription (PATCH .../business)',
  checkoutUrl: 'storeUrls (PATCH .../business; the MoR calls it checkoutUrl)',
};

type Seen = {
  readonly status: string;
  readonly merchantId: string | null;
  readonly applicationId: string | null;
  readonly regions: readonly string[];
  readonly due: readonly string[];
  readonly comments: readonly unknown[];
};

/** The next step in one sentence, never empty. */
export function nextStep({ status, merchantId, applicationId, regions, due, comments }: Seen): string {
  const means = due.map((key) => MEANS[key] ?? key).join(', ');
  switch (status) {
    case 'refused':
      return 'The MoR refused the request: correct it, then send POST /v1/onboarding/merchants again.';
    case 'requested':
      if (merchantId !== null) return 'No application yet: choose product and regions (PUT .../product) to make one.';
      if (applicationId !== null) return 'The MoR has not listed the merchant yet: look again in a moment.';
      return 'The MoR has not confirmed the application: send POST /v1/onboarding/merchants again with the same body.';
    case 'created':
      if (due.length > 0) return `Supply ${means}, then submit.`;
      if (regions.length === 0) return 'Choose the regions (PUT .../product), then submit.';
      return 'Nothing is missing: submit it for review (POST .../submit).';
    case 'submitted':
      return 'A person at the MoR reviews it, without a fixed time; Crossbill asks for the outcome every few minutes.';
    case 'changes_requested':
      if (due.length > 0)
        return `The reviewer asks for changes, and something is missing: supply ${means}, then submit again.`;
      if (comments.length > 0) return 'The reviewer asks for changes: fix the listed errors, then submit again.';
      return 'The reviewer asks for changes: read review_message, fix it if you have not, then submit again.';
    case 'approved':
      return 'Approved: the merchant is live for this product.';
    case 'rejected':
      return 'Rejected for good: nobody can submit it again. To start again, use another merchant reference.';
    default:
      return `The MoR says ${status}, a status unknown to Crossbill: ask the MoR what it needs. Crossbill asks again every few minutes.`;
  }
}

// The next step of a merchant's onboarding, in one sentence for a person.
import { type OnboardingRow } from '../../../shared/domain/onboarding.js';

/** The API route for each requirement of Document 1. */
const MEANS: Readonly<Record<string, string>> = {
  products: 'the product (PUT .../product)',
  selectedRegions: 'the regions (PUT .../product)',
  businessDescription: 'businessDescription (PATCH .../business)',
  checkoutUrl: 'storeUrls (PATCH .../business; the MoR calls it checkoutUrl)',
};

type Seen = Pick<
  OnboardingRow,
  'status' | 'merchantId' | 'applicationId' | 'regions' | 'due' | 'comments' | 'reviewMessage'
>;

/** The next step in one sentence, never empty. Pure. */
export function nextStep(view: Seen): string {
  const { status, merchantId, applicationId, due } = view;
  switch (status) {
    case 'refused':
      return 'The MoR refused the request: correct it, then send POST /v1/onboarding/merchants again.';
    case 'requested':
      if (merchantId !== null) return 'No application yet: choose product and regions (PUT .../product) to make one.';
      if (applicationId !== null) return 'The MoR has not listed the merchant yet: look again in a moment.';
      return 'The MoR has not confirmed the application: send POST /v1/onboarding/merchants again with the same body.';
    case 'created':
      if (due.length > 0) return `Supply ${means(due)}, then submit.`;
      if (view.regions.length === 0) return 'Choose the regions (PUT .../product), then submit.';
      return 'Nothing is missing: submit it for review (POST .../submit).';
    case 'submitted':
      return 'A person at the MoR reviews it, without a fixed time; Crossbill asks for the outcome every few minutes.';
    case 'changes_requested': {
      if (due.length > 0)
        return `The reviewer asks for changes, and something is missing: supply ${means(due)}, then submit again.`;
      if (view.comments.length > 0) return 'The reviewer asks for changes: fix the listed errors, then submit again.';
      return 'The reviewer asks for changes: read review_message, fix it if you have not, then submit again.';
    }
    case 'approved':
      return 'Approved: the merchant is live for this product.';
    case 'rejected':
      return 'Rejected for good: nobody can submit it again. To start again, use another merchant reference.';
    default:
      return `The MoR says ${status}, a status unknown to Crossbill: ask the MoR what it needs. Crossbill asks again every few minutes.`;
  }
}

function means(due: readonly string[]): string {
  return due.map((key) => MEANS[key] ?? key).join(', ');
}

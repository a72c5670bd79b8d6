// A merchant's onboarding (Document 1): its progress, as the database stores it.
import { bool, int, json, key, rowOf, type RowOf, text, time, word, words } from './row.js';

/** A merchant as the MoR returns it (Document 1, "Merchant (detail)"). */
export type MerchantFacts = {
  /** The company details. Null: nobody has given any. */
  readonly company: CompanyFacts | null;
  readonly businessDescription: string | null;
  readonly storeUrls: readonly string[];
};

/** The details of a company. A missing text is empty. */
export type CompanyFacts = {
  readonly legalName: string;
  readonly tradingName: string;
  readonly website: string;
  readonly taxId: string;
  readonly registrationNumber: string;
  readonly jurisdiction: string;
  readonly gmvTier: string;
  readonly registeredAddress: {
    readonly line1: string;
    readonly line2: string;
    readonly city: string;
    readonly state: string;
    readonly postalCode: string;
    readonly country: string;
  };
};

/**
 * The status of an application. `requested`: the MoR has no application yet. `refused`: the MoR would not begin one.
 * Any other status is the MoR's own word, even if Document 1 does not have it.
 */
export type OnboardingStatus = string;

export const ONBOARDING = rowOf('onboarding', {
  /** The partner's own name for the merchant. It never changes. */
  reference: key(),
  /**
   * Null until Crossbill has looked up the merchant by its reference: the MoR's answer to the initiate request does
   * not contain this id.
   */
  merchantId: text().orNull,
  /** Null until the MoR answers the initiate request, and for an application begun by somebody else. */
  applicationId: text().orNull,
  productCode: word(),
  regions: words().first([]),
  status: word<OnboardingStatus>(),
  /** The keys of the requirements still open before submit. */
  due: words().first([]),
  /** The reviewer's comments. `field` is a label for people, not a key of the application. */
  comments: json<readonly { readonly field: string; readonly message: string }[]>(),
  reviewMessage: text().orNull,
  /** The merchant as the MoR returned it at the last read. Null: never read. */
  merchant: json<MerchantFacts>().orNull,
  /** The hash of the first request's body, in hex. Null: somebody else began the application. */
  bodySha256: text().orNull,
  /** True: the MoR already had an application for this reference. */
  existing: bool().first(false),
  /** True: the MoR discarded the company details of our request. */
  companyDiscarded: bool().first(false),
  /** The number of initiate requests from Crossbill. */
  initiates: int().first(0),
  submittedAt: time().orNull,
  reviewedAt: time().orNull,
  /** When Crossbill last read the application. */
  readAt: time().orNull,
  /** When Crossbill reads the application again. Null: there is nothing to find out. */
  pollAt: time().orNull,
  busyUntil: time().orNull,
  createdBy: text(),
  createdAt: time(),
  updatedAt: time(),
});
export type OnboardingRow = RowOf<typeof ONBOARDING>;

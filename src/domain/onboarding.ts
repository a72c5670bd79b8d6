// Onboarding (Document 1): a merchant's progress in the database.
import { bool, int, json, key, rowOf, type RowOf, text, texts, time } from './row.js';

/** Document 1, "Merchant (detail)", as the MoR has it. */
export type MerchantFacts = {
  /** Null: none was ever given. */
  readonly company: CompanyFacts | null;
  readonly businessDescription: string | null;
  readonly storeUrls: readonly string[];
};

/** A missing text is empty. */
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

/** `requested`: without an application at the MoR. `refused`: the MoR would not begin one. The rest are the MoR's words, in the documents or not. */
export type OnboardingStatus = string;

export const ONBOARDING = rowOf('onboarding', {
  /** The partner's own name of the merchant, permanent. */
  reference: key(),
  /** Null before its look-up by the reference: initiate does not return it. */
  merchantId: text().orNull,
  /** Null before initiate's answer, and for a merchant begun elsewhere. */
  applicationId: text().orNull,
  productCode: text(),
  regions: texts().first([]),
  status: text<OnboardingStatus>(),
  /** Requirement keys still open before submit. */
  due: texts().first([]),
  /** The reviewer's comments. `field` is a label to show, not a key. */
  comments: json<readonly { readonly field: string; readonly message: string }[]>(),
  reviewMessage: text().orNull,
  /** As the MoR had it at the last read; null: never read. */
  merchant: json<MerchantFacts>().orNull,
  /** The hash of the first request, in hex; null: begun elsewhere. */
  bodySha256: text().orNull,
  /** The MoR had an application for this reference before us. */
  existing: bool().first(false),
  /** The MoR discarded the company details of our request. */
  companyDiscarded: bool().first(false),
  /** Sent initiate requests. */
  initiates: int().first(0),
  submittedAt: time().orNull,
  reviewedAt: time().orNull,
  /** The last read of the application. */
  readAt: time().orNull,
  /** The next question for its outcome; null: none. */
  pollAt: time().orNull,
  busyUntil: time().orNull,
  createdBy: text(),
  createdAt: time(),
  updatedAt: time(),
});
export type OnboardingRow = RowOf<typeof ONBOARDING>;

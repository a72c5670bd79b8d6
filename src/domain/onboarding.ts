// Onboarding (Document 1): a merchant's progress as Crossbill keeps it.

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

/**
 * `requested`: the MoR has not confirmed an application yet. `refused`: it would not begin one. The rest are the MoR's words: those of
 * Document 1, or another one.
 */
export type OnboardingStatus = string;

export type OnboardingRow = {
  /** The partner's own name of the merchant, permanent. */
  readonly reference: string;
  /** Null before its look-up by the reference: initiate does not return it. */
  readonly merchantId: string | null;
  /** Null before initiate's answer, and for a merchant begun elsewhere. */
  readonly applicationId: string | null;
  readonly productCode: string;
  readonly regions: readonly string[];
  readonly status: OnboardingStatus;
  /** Requirement keys still open before submit. */
  readonly due: readonly string[];
  /** The reviewer's comments. `field` is a label to show, not a key. */
  readonly comments: readonly { readonly field: string; readonly message: string }[];
  readonly reviewMessage: string | null;
  /** Company, description and stores, as the MoR had them at the last read; null: never read. */
  readonly merchant: MerchantFacts | null;
  /** Of the first request; null: begun elsewhere. */
  readonly bodySha256: Buffer | null;
  /** The MoR had an application for this reference before we asked. */
  readonly existing: boolean;
  /** The MoR discarded the company details of our request. */
  readonly companyDiscarded: boolean;
  readonly initiates: number;
  readonly submittedAt: Date | null;
  readonly reviewedAt: Date | null;
  /** The last read of the application. */
  readonly readAt: Date | null;
  readonly pollAt: Date | null;
  readonly busyUntil: Date | null;
  readonly createdBy: string;
  readonly createdAt: Date;
  readonly updatedAt: Date;
};

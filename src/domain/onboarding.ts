// Onboarding (Document 1): a merchant's progress as Crossbill keeps it.

/** Document 1, "Merchant (detail)", as the MoR has it. */
export type MerchantFacts = {
  /** Null: none was ever given. */
  readonly company: CompanyFacts | null;
  readonly businessDescription: string | null;
  readonly storeUrls: readonly string[];
};

/** A text that was not given is empty. */
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
  /** Null until it was looked up by the reference: initiate does not tell it. */
  readonly merchantId: string | null;
  /** Null until initiate answered, and for a merchant that was not begun through us. */
  readonly applicationId: string | null;
  readonly productCode: string;
  readonly regions: readonly string[];
  readonly status: OnboardingStatus;
  /** Requirement keys still open before submit. */
  readonly due: readonly string[];
  /** The reviewer's comments. `field` is a label to show, not a key. */
  readonly comments: readonly { readonly field: string; readonly message: string }[];
  readonly reviewMessage: string | null;
  /** Company, description and stores, as the MoR had them when the merchant was read last; null: not read. */
  readonly merchant: MerchantFacts | null;
  /** Of the request that was sent first; null: not begun through us. */
  readonly bodySha256: Buffer | null;
  /** The MoR had an application for this reference before we asked. */
  readonly existing: boolean;
  /** The company details of a request of ours were thrown away by the MoR. */
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

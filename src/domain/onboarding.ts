// Onboarding (Document 1): the MoR's answers to a partner, and a merchant's progress.

/** A request that was checked field by field, or the code and the fields by which the MoR would refuse it. */
export type CheckedRequest<T> =
  | { readonly ok: true; readonly value: T }
  | {
      readonly ok: false;
      readonly code: string;
      readonly errors: readonly { readonly field: string; readonly message: string }[];
    };

export type InitiateFacts = {
  readonly merchantReference: string;
  readonly productCode: string;
  /** The request as JSON text, in one order: the same request gives the same text. */
  readonly text: string;
};

/** A merchant whose company is not known. */
export type BareMerchantFacts = {
  readonly merchantReference: string;
  /** Empty: it is chosen later. */
  readonly productCode: string;
};

export type InitiatedFacts = {
  readonly applicationId: string;
  /** True: the application was there before, and the company details of this request were thrown away (Document 1, rule 1). */
  readonly isExistingApplication: boolean;
};

export type ApplicationFacts = {
  readonly merchantId: string;
  /** `created`, `submitted`, `changes_requested`, `approved`, `rejected` (Document 1) or another word of the MoR. */
  readonly status: string;
  readonly product: { readonly code: string; readonly regions: readonly string[] } | null;
  readonly currentlyDue: readonly string[];
  readonly comments: readonly { readonly field: string; readonly message: string }[];
  readonly reviewMessage: string | null;
  readonly submittedAt: Date | null;
  readonly reviewedAt: Date | null;
};

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

export type RegionFacts = {
  readonly id: string;
  readonly name: string;
  readonly flagCode: string;
  readonly countryCode: string | null;
  readonly taxSupported: boolean;
  readonly morSupported: boolean;
};

export type ProductFacts = { readonly code: string; readonly regions: readonly string[] };

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
  /** Requirement keys still to satisfy before it can be submitted. */
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

// One merchant's way through onboarding (Document 1), as it is kept. Times UTC.

/**
 * `requested`: the MoR has not confirmed an application yet. `refused`: it would not begin one. The rest are Document 1's own words.
 */
export type OnboardingStatus =
  'requested' | 'refused' | 'created' | 'submitted' | 'changes_requested' | 'approved' | 'rejected';

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

/** What is final is not asked for any more (Document 1, "What the service does", 5). */
export function isFinal(status: OnboardingStatus): boolean {
  return status === 'approved' || status === 'rejected';
}

/** Only these wait for somebody at the MoR, or may be changed by one. */
export function isPolled(status: OnboardingStatus): boolean {
  return status === 'submitted' || status === 'changes_requested';
}

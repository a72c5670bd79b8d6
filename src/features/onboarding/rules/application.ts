// What a request to begin an application means, and which applications Crossbill keeps reading.

/** True for a final status. Crossbill stops polling then (Document 1, "What the service does", 5). */
export function isFinal(status: string): boolean {
  return status === 'approved' || status === 'rejected';
}

/** In these statuses the next action is the merchant's or nobody's, so Crossbill does not poll. */
const UNPOLLED: ReadonlySet<string> = new Set(['requested', 'refused', 'created', 'approved', 'rejected']);

/**
 * True for a status Crossbill polls: the application waits for the MoR, or may change at the MoR. Crossbill also polls
 * an unknown status.
 */
export function isPolled(status: string): boolean {
  return !UNPOLLED.has(status);
}

/** The earlier requests to begin this application, compared with the present one. */
export type Attempt = {
  /** True: an earlier request got no reply, so the MoR may have begun the application already. */
  readonly isUnanswered: boolean;
  /** True: that request had the same body, so an application at the MoR is our own, with our details. */
  readonly isRepeat: boolean;
};

type Begun = {
  readonly initiates: number;
  readonly status: string;
  readonly bodySha256: string | null;
};

export function compareAttempt({ initiates, status, bodySha256 }: Begun, sha256: string): Attempt {
  const isUnanswered = initiates > 0 && status !== 'refused';
  return { isUnanswered, isRepeat: isUnanswered && bodySha256 === sha256 };
}

/**
 * Compares the MoR's answer with our requests. If somebody else began the application, the MoR keeps their company
 * details and drops ours. `made`: our request began the application.
 */
export function readInitiated(
  { merchantId }: { readonly merchantId: string | null },
  { isUnanswered, isRepeat }: Attempt,
  isExisting: boolean,
): { readonly existing: boolean; readonly companyDiscarded: boolean; readonly made: boolean } {
  const isForeign = isExisting && !isRepeat;
  return {
    existing: isForeign && !isUnanswered,
    companyDiscarded: isForeign,
    made: !isExisting || (isRepeat && merchantId === null),
  };
}

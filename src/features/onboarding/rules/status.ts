// The statuses Crossbill polls, and the final statuses.
import { type OnboardingStatus } from '../../../shared/domain/onboarding.js';

/** True for a final status. Crossbill stops polling then (Document 1, "What the service does", 5). */
export function isFinal(status: OnboardingStatus): boolean {
  return status === 'approved' || status === 'rejected';
}

/** In these statuses the next action is the merchant's or nobody's, so Crossbill does not poll. */
const UNPOLLED: ReadonlySet<OnboardingStatus> = new Set(['requested', 'refused', 'created', 'approved', 'rejected']);

/**
 * True for a status Crossbill polls: the application waits for the MoR, or may change at the MoR. Crossbill also polls
 * an unknown status.
 */
export function isPolled(status: OnboardingStatus): boolean {
  return !UNPOLLED.has(status);
}

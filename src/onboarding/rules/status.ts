// The statuses of an onboarding still to poll, and the final ones.
import { type OnboardingStatus } from '../../domain/onboarding.js';

/** Never polls a final one again (Document 1, "What the service does", 5). */
export function isFinal(status: OnboardingStatus): boolean {
  return status === 'approved' || status === 'rejected';
}

/** In these the next step is the merchant's, or nobody's. */
const UNPOLLED: ReadonlySet<OnboardingStatus> = new Set(['requested', 'refused', 'created', 'approved', 'rejected']);

/** The rest wait for somebody at the MoR, or may change there: also an unknown status. */
export function isPolled(status: OnboardingStatus): boolean {
  return !UNPOLLED.has(status);
}

// Which statuses of an onboarding are asked for again, and which are the end.
import { type OnboardingStatus } from '../../domain/onboarding.js';

/** What is final is not asked for any more (Document 1, "What the service does", 5). */
export function isFinal(status: OnboardingStatus): boolean {
  return status === 'approved' || status === 'rejected';
}

/** In these the next step is the merchant's, or nobody's. */
const UNPOLLED: ReadonlySet<OnboardingStatus> = new Set(['requested', 'refused', 'created', 'approved', 'rejected']);

/** The rest wait for somebody at the MoR, or may be changed by one: also a status that Document 1 does not have. */
export function isPolled(status: OnboardingStatus): boolean {
  return !UNPOLLED.has(status);
}

// Which statuses of an onboarding are asked for again, and which are the end.
import { type OnboardingStatus } from '../../domain/ports/onboarding.js';

/** What is final is not asked for any more (Document 1, "What the service does", 5). */
export function isFinal(status: OnboardingStatus): boolean {
  return status === 'approved' || status === 'rejected';
}

/** Only these wait for somebody at the MoR, or may be changed by one. */
export function isPolled(status: OnboardingStatus): boolean {
  return status === 'submitted' || status === 'changes_requested';
}

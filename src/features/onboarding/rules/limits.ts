// Every wait, number of tries and limit of onboarding, with unit, reason and source.
import { MINUTE_MS } from '../../../shared/policy.js';

/** The pause between reads of one application. A person reviews it (onboarding API, "What the service does", 5). */
export const ONBOARDING_POLL_EVERY_MS = 3 * MINUTE_MS;
/** The pause between a replica's searches for applications due to be read. */
export const ONBOARDING_REPLY_POLL_MS = MINUTE_MS;
/** How long one request locks a merchant: longer than the calls of one step, so two requests never send at once. */
export const ONBOARDING_BUSY_MS = 30_000;

// Every wait, number of tries and limit of retries, with unit, reason and source.
import { HOUR_MS } from '../../../shared/policy.js';

/**
 * Within this time after a refusal, `invoice.payment_attempt_required` is still about the refused charge. Stripe sends
 * the first such event when it finalizes the invoice, about an hour after the MoR reports the refusal. Stripe sends the
 * next such event at least a day later (Stripe docs, "Automate payment retries").
 */
export const RETRY_ASKED_AFTER_MS = 12 * HOUR_MS;
/** A refusal this much older than a retry is about an earlier try. Clocks differ by minutes (WEBHOOK_TOLERANCE_SEC). */
export const CLOCKS_APART_MS = HOUR_MS;

// Every wait, number of tries and limit of enrolment, with unit, reason and source.
import { HOUR_MS, DAY_MS, MINUTE_MS } from '../../../shared/policy.js';

/**
 * Crossbill waits this long to learn whether a customer is enrolled. Then a person decides. By then Stripe finalizes
 * the draft, and the MoR has not received the invoice yet.
 */
export const ENROLMENT_TIMEOUT_MS = HOUR_MS;
/**
 * The MoR charges a customer's invoices from the time of the customer link on. Stripe still collects an older invoice,
 * unless the MoR took a payment for it. An invoice up to this much older than the link counts as enrolled, because a
 * merchant may make the link some days after the MoR's first charge.
 */
export const LINK_REACHES_BACK_MS = 3 * DAY_MS;

/**
 * Crossbill trusts a read of a subscription's payment methods for a day. Not longer: a customer can save a card in the
 * portal on any day. Not shorter: the events of one renewal arrive within an hour to three days, and each would need a
 * request to Stripe. `doctor --all` renews the reads of a hundred subscriptions with one request.
 */
export const CHARGE_POLL_GOOD_MS = DAY_MS;
/** The pause before the first read of a payment method. Stripe can no longer charge an invoice marked by then. */
export const CHARGE_POLL_AFTER_MS = 5_000;
/** The pause between reads while Stripe would charge a draft. An operator's fix must show within the hour. */
export const CHARGE_POLL_DRAFT_MS = 5 * MINUTE_MS;
/** The pause between reads while Stripe would charge an open invoice. Stripe's retries are days apart. */
export const CHARGE_POLL_OPEN_MS = 6 * HOUR_MS;
/** The most failed reads of a payment method in a row. Then Crossbill works on the invoice without such a read. */
export const CHARGE_POLL_TRIES = 8;

// Every wait, number of tries and limit of verify, with unit, reason and source.
import { MINUTE_MS, DAY_MS, HOUR_MS } from '../../../shared/policy.js';

/** Work younger than this is still under way, so verify does not call it a difference. */
export const VERIFY_GRACE_MS = 2 * MINUTE_MS;
/** An interrupted run may resume within a day of its start. After a day, the next daily run compares everything. */
export const VERIFY_RESUME_WITHIN_MS = DAY_MS;
/**
 * A run without a save for this long counts as dead, and another process may resume it. A living run saves every 30
 * seconds, or after its present request of at most two minutes. If the old process still lives, its next save fails,
 * and it ends.
 */
export const VERIFY_ABANDONED_AFTER_MS = 10 * MINUTE_MS;
/**
 * The times of the MoR's attempts to deliver an event, in seconds after the event. The MoR makes at most 8 attempts:
 * the first retry follows after 10 seconds, and each later pause is three times as long (events API, "Delivery"). That
 * page may also mean a ninth attempt, hours later. If an attempt is missing here, verify only looks up more events.
 */
export const MOR_ATTEMPTS_SEC = [0, 10, 40, 130, 400, 1_210, 3_640, 10_930] as const;

/** If Crossbill lacks an event of Stripe, verify looks again after this pause: the event may just be arriving. */
export const VERIFY_RECHECK_MS = 2_000;
/** The pause before the second comparison of a young object: Stripe delivers in two seconds; a decision takes one. */
export const VERIFY_RECENT_PAUSE_MS = 3_000;
/** The longest time between two saves of a run. A save shows other processes that the run lives. */
export const VERIFY_SAVE_WITHIN_MS = 30_000;
/** While one replica makes the daily run, each save keeps the other replicas from starting the run for this time. */
export const VERIFY_HELD_MS = 15 * MINUTE_MS;
/** The next run compares at most this many invoices with money differences again, at one or two requests each. */
export const VERIFY_AGAIN_MOST = 1_000;

/** The pause before the next try of an incomplete daily run. */
export const VERIFY_AGAIN_AFTER_MS = HOUR_MS;
/** The pause between a replica's checks for a due daily run. */
export const VERIFY_POLL_EVERY_MS = 5 * MINUTE_MS;

/** The longest time between an invoice and the MoR's verdict on it. Bank debits settle after days. */
export const VERDICT_LONGEST_MS = 30 * DAY_MS;

/** The most marks one daily run checks at the MoR: 90 minutes at ten a second. A million marks take 20 days. */
export const VERIFY_MARKS_A_RUN = 50_000;
/** A run started by a person checks at most this many marks, so the person waits less than a minute. */
export const VERIFY_MARKS_FOR_A_PERSON = 500;
/** Crossbill counts unchecked marks up to this number. A run must not read a million rows for one count. */
export const MARKS_LEFT_COUNTED = 10_000;
/** The pause between checks of marks, after the first fifty: ten a second. The MoR's documents name no limit. */
export const VERIFY_MARKS_PAUSE_MS = 100;
/** An unclear refund is on its payment record or not, so several sums are possible. Verify tries at most this many. */
export const VERIFY_REFUND_SUMS_MOST = 4_096;

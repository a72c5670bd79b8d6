// Every wait, number of tries and limit of notifications, with unit, reason and source.
import { DAY_MS } from '../../../shared/policy.js';

/** The timeout of one delivery. Standard Webhooks asks for 15 to 30 seconds ("Operational considerations"). */
export const NOTIFY_TIMEOUT_MS = 15_000;
/** How long one process locks a notification: longer than NOTIFY_TIMEOUT_MS. After a crash another process sends it. */
export const NOTIFY_BUSY_MS = 30_000;
/** Crossbill sends `review.due_soon` this long before the deadline of an item. */
export const REVIEW_DUE_SOON_MS = DAY_MS;
/** The pause between searches for deadlines, items without an invoice and runs of verify that need a notification. */
export const LOOKOUT_EVERY_MS = 15_000;
/** The database keeps delivered and abandoned notifications for this many days. */
export const NOTIFICATIONS_KEPT_DAYS = 30;

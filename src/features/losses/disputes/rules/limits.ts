// Every wait, number of tries and limit of disputes, with unit, reason and source.
import { DAY_MS } from '../../../../shared/policy.js';

/** A refund up to this much older than an alert may be about the alert: deliveries take hours (events API). */
export const ALERT_TIMEOUT_MS = DAY_MS;
/** The most ids Crossbill keeps of one dispute or alert. All belong to one payment: its id, charge and intent. */
export const DISPUTE_NAMES_MOST = 20;

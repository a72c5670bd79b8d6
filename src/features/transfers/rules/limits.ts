// Every wait, number of tries and limit of bank transfers, with unit, reason and source.
import { HOUR_MS } from '../../../shared/policy.js';

/**
 * After a read shows a transfer, Crossbill waits this long for the event of the transfer. The MoR tries to deliver an
 * event for some hours (events API).
 */
export const TRANSFER_TIMEOUT_MS = HOUR_MS;

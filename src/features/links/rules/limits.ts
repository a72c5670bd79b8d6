// Every wait, number of tries and limit of payment links, with unit, reason and source.
import { DAY_MS } from '../../../shared/policy.js';

/** How long reads of a link may get no reply from the MoR: longer than an outage of a day. Then a person decides. */
export const LINK_SILENT_MS = 2 * DAY_MS;
/** The most automatic payment links for one invoice. Each lives a week, so together they outlast every schedule. */
export const RECOVERY_LINKS_MOST = 3;

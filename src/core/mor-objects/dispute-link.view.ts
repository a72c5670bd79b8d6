// Links to a dispute or an alert, in the console and at the MoR, and the test for a review item about the dispute.
import { type Feature } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { actLink, outsideLink } from '../../frames/console/acts.js';
import { html, type Html } from '../../frames/console/html.js';
import { showUndecided } from '../../shared/domain/dispute-sum.js';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { type MorObjectRow, objectId, wantsEvidence } from '../../shared/domain/mor-object.js';

export const isDispute = (object: MorObjectRow): boolean => object.kind === 'dispute' || object.kind === 'alert';

/**
 * The link to the dispute at the MoR: by the address in the MoR's event, or else by MOR_PORTAL_URL (`portal`). Null if
 * the object is no dispute or alert, or if there is no address.
 */
export function disputeLink(object: MorObjectRow, portal: string | null): Html | null {
  if (!isDispute(object)) return null;
  const url = object.url ?? portal?.replace('{id}', encodeURIComponent(objectId(object))) ?? null;
  if (wantsEvidence(object)) return outsideLink(url, 'Send evidence', 'first');
  return outsideLink(url, object.kind === 'dispute' ? 'Open the dispute at the MoR' : 'Open the alert at the MoR');
}

/** The path has our own id: the MoR's id may have any characters. */
export const disputePath = (object: MorObjectRow): string => `/console/disputes/${encodeURIComponent(object.id)}`;

/** The dispute's id as a link to its page. */
export function disputeIdLink(object: MorObjectRow): Html {
  return html`<a class="id" href="${disputePath(object)}" title="${objectId(object)}">${objectId(object)}</a>`;
}

/** The link from an invoice or a payment to the dispute's page. Null if the object is no dispute or alert. */
export function disputeAct(object: MorObjectRow): Html | null {
  return isDispute(object)
    ? actLink(disputePath(object), object.kind === 'dispute' ? 'See the dispute' : 'See the alert')
    : null;
}

/** True if the item asks about this object. */
export const asksAbout = (item: ReviewRow, object: MorObjectRow): boolean =>
  FEATURES.some((of: Feature) => of.asksAbout?.(item, object) === true);

/** Warns of the payment's undecided disputes. Null: there are none. */
export function disputeWarning(disputes: readonly MorObjectRow[]): Html | null {
  if (disputes.length === 0) return null;
  const links = disputes.map((o) => html` ${disputeAct(o)}`);
  return html`<p class="message bad" role="alert"><bdi>${showUndecided(disputes)}</bdi>${links}</p>`;
}

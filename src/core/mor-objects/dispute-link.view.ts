// Links to a dispute or an alert, in the console and at the MoR, and the test for a review item about the dispute.
import { type Feature } from '../../feature.js';
import { FEATURES } from '../../features.js';
import { actLink, outsideLink } from '../../frames/console/acts.js';
import { html, type Html } from '../../frames/console/html.js';
import { showUndecided } from '../../shared/domain/dispute-sum.js';
import { type ReviewRow } from '../../shared/domain/model.js';
import { asksAfterOutcome, type MorObjectRow, objectId } from '../../shared/domain/mor-object.js';

export const isDispute = (o: MorObjectRow): boolean => o.kind === 'dispute' || o.kind === 'alert';

/** True if the MoR waits for evidence. */
export const wantsEvidence = (o: MorObjectRow): boolean =>
  o.kind === 'dispute' && (o.status === 'action_needed' || o.status === 'revision_requested' || asksAfterOutcome(o));

/**
 * The link to the dispute at the MoR: by the address in the MoR's event, or else by MOR_PORTAL_URL (`portal`). Null if
 * the object is no dispute or alert, or if there is no address.
 */
export function disputeLink(o: MorObjectRow, portal: string | null): Html | null {
  if (!isDispute(o)) return null;
  const url = o.url ?? portal?.replace('{id}', encodeURIComponent(objectId(o))) ?? null;
  if (wantsEvidence(o)) return outsideLink(url, 'Send evidence', 'first');
  return outsideLink(url, o.kind === 'dispute' ? 'Open the dispute at the MoR' : 'Open the alert at the MoR');
}

/** The path has our own id: the MoR's id may have any characters. */
export const disputePath = (o: MorObjectRow): string => `/console/disputes/${encodeURIComponent(o.id)}`;

/** The dispute's id as a link to its page. */
export function disputeIdLink(o: MorObjectRow): Html {
  return html`<a class="id" href="${disputePath(o)}" title="${objectId(o)}">${objectId(o)}</a>`;
}

/** The link from an invoice or a payment to the dispute's page. Null if the object is no dispute or alert. */
export function disputeAct(o: MorObjectRow): Html | null {
  return isDispute(o) ? actLink(disputePath(o), o.kind === 'dispute' ? 'See the dispute' : 'See the alert') : null;
}

/** True if the item asks about this object. */
export const asksAbout = (item: ReviewRow, o: MorObjectRow): boolean =>
  FEATURES.some((of: Feature) => of.asksAbout?.(item, o) === true);

/** Warns of the payment's undecided disputes. Null: there are none. */
export function disputeWarning(disputes: readonly MorObjectRow[]): Html | null {
  if (disputes.length === 0) return null;
  const links = disputes.map((o) => html` ${disputeAct(o)}`);
  return html`<p class="message bad" role="alert"><bdi>${showUndecided(disputes)}</bdi>${links}</p>`;
}

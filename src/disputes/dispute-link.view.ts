// The links of a dispute or an alert: its page, its place at the MoR, its items.
import { actLink, outsideLink } from '../console/acts.js';
import { html, type Html } from '../console/html.js';
import { type ReviewRow } from '../domain/model.js';
import { type MorObjectRow, objectId } from '../domain/mor-object.js';

export const isDispute = (o: MorObjectRow): boolean => o.kind === 'dispute' || o.kind === 'alert';

/** Null: it is neither, or the MoR gave no address. */
export function disputeLink(o: MorObjectRow): Html | null {
  if (!isDispute(o)) return null;
  return outsideLink(o.url, o.kind === 'dispute' ? 'Open the dispute at the MoR' : 'Open the alert at the MoR');
}

/** By our own id: the MoR's may have any letters. */
export const disputePath = (o: MorObjectRow): string => `/console/disputes/${encodeURIComponent(o.id)}`;

/** The id as the way to its page. */
export function disputeIdLink(o: MorObjectRow): Html {
  return html`<a class="id" href="${disputePath(o)}" title="${objectId(o)}">${objectId(o)}</a>`;
}

/** The link to its page, on an invoice or a payment. Null: it is neither. */
export function disputeAct(o: MorObjectRow): Html | null {
  return isDispute(o) ? actLink(disputePath(o), o.kind === 'dispute' ? 'See the dispute' : 'See the alert') : null;
}

/** An item about a dispute is named after it and its stage (rules/items.ts). */
export function asksAbout({ kind, subject }: ReviewRow, o: MorObjectRow): boolean {
  const name = o.kind === 'alert' ? `alert:${objectId(o)}` : objectId(o);
  return kind === 'dispute' && isDispute(o) && (subject === name || subject.startsWith(`${name}:`));
}

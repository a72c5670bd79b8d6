// Where the MoR wants a dispute or an alert to be answered.
import { type MorObjectRow } from '../domain/mor-object.js';
import { outsideLink } from '../console/acts.js';
import { type Html } from '../console/html.js';

/** Null: it is neither, or the MoR has not said where. */
export function disputeLink(o: MorObjectRow): Html | null {
  if (o.kind !== 'dispute' && o.kind !== 'alert') return null;
  return outsideLink(o.url, o.kind === 'dispute' ? 'Open the dispute at the MoR' : 'Open the alert at the MoR');
}

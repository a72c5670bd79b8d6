// Automatic payment links: the request for the amount due, and the country of the link.
import { askFor, NOT_PAYABLE } from '../../../core/mor-objects/rules/request.js';
import { callKey } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { showMoney } from '../../../shared/domain/money.js';
import { type MorObjectRow, newMorObject } from '../../../shared/domain/mor-object.js';
import { type RecoveryLinks } from '../../../shared/domain/settings.js';

/**
 * Requests a link for the amount due, without a person. Crossbill has just read the invoice. Returns false if no amount
 * is due or the settings do not allow such links.
 * @param id our id; the idempotency key comes from it
 */
export function requestLink(lane: Lane, id: string): boolean {
  const { settings, invoice: i, ctx } = lane;
  const { recoveryLinks } = settings;
  const { amountRemaining: minor = null, currency = null, invoiceId = '' } = i ?? {};
  if (recoveryLinks === null || minor === null || minor <= 0n || currency === null) return false;
  const key = callKey('create_payment_link', id, 1);
  const { returnUrl, expiresSec } = recoveryLinks;
  const jurisdiction = jurisdictionOf(lane, recoveryLinks);
  const amount = { minor, currency };
  const wire = ctx.encodeMor({ kind: 'create_payment_link', jurisdiction, amount, returnUrl, expiresSec, key });
  const detail = { automatic: true, jurisdiction };
  const own = { id, kind: 'payment_link', invoiceId, status: 'REQUESTED', amount: minor, currency, detail } as const;
  askFor(lane, newMorObject(lane.now, own), wire);
  const said = `make a payment link of ${showMoney(amount)} (${jurisdiction}): the renewal was not paid`;
  lane.log('decision', said, id);
  return true;
}

/**
 * The country for the link: the customer's country. If Crossbill does not know this country, or the MoR refused it for
 * this invoice, the country from the settings.
 */
function jurisdictionOf({ invoice, objects }: Lane, settings: RecoveryLinks): string {
  const country = invoice?.customerCountry ?? null;
  const isRefused = objects.some((o) => isForeign(o) && o.detail.jurisdiction === country);
  return country === null || isRefused ? settings.jurisdiction : country;
}

/**
 * True if the MoR refused an automatic link because of the `jurisdiction`, the country in our request (Document 2: the
 * MoR has no arrangement there, or an arrangement without collection).
 */
function isForeign({ kind, detail: { automatic, refusal } }: MorObjectRow): boolean {
  // Crossbill's own withdrawal proves nothing about the country.
  const isOfStatus = refusal?.status === 409 && refusal.code !== NOT_PAYABLE;
  const isAboutIt = isOfStatus || refusal?.errors.some((e) => e.field === 'jurisdiction') === true;
  return kind === 'payment_link' && automatic === true && isAboutIt;
}

/** True if Crossbill can request another link with the jurisdiction of the settings. */
export function hasFallback(lane: Pick<Lane, 'settings'>, object: MorObjectRow): boolean {
  const { jurisdiction } = object.detail;
  return isForeign(object) && jurisdiction !== undefined && jurisdiction !== lane.settings.recoveryLinks?.jurisdiction;
}

// A renewal that the MoR could not charge gets a payment link by itself, where the settings say so.
import { showMoney } from '../../domain/money.js';
import { type InvoiceRow, type LaneState } from '../../domain/model.js';
import {
  endOfLink,
  heardAt,
  isLiveProforma,
  isPayableLink,
  type MorObjectRow,
  newMorObject,
} from '../../domain/mor-object.js';
import { untriedMethod } from '../../domain/retry.js';
import { type RecoveryLinks } from '../../domain/settings.js';
import { SIGNUP_REASON } from '../../domain/status.js';
import { askFor, type Ctx, lastingName, messageKey, note } from '../../engine/change.js';
import { isFresh } from '../../engine/facts.js';
import { readInvoice } from '../../engine/read-invoice.js';
import { saysNothing } from '../../engine/payment.js';
import { DRAFT_LOOK_AFTER_MS, DRAFT_LOOK_EVERY_MS, DRAFT_USUAL_LIFE_MS, RECOVERY_LINKS_MOST } from '../../policy.js';
import { NOT_PAYABLE } from '../../mor-objects/rules/withdraw.js';
import { type ErrandRule } from '../../engine/subject.js';
import { isLookedInto, moneyAnnounced } from '../../engine/open-money.js';

/** Writes a link's request down, for what is due by a read made just now. */
export function settleRecovery(s: LaneState, ctx: Ctx): LaneState {
  const i = s.invoice;
  if (i === null || !wantsLink(s, i, ctx)) return s;
  if (i.platformStatus !== 'open' || !isFresh(i, ctx.now)) return s; // recoveryLook makes the errand of it
  // Nothing is deleted from a lane, so the number is the next one.
  const number = 1 + s.objects.filter((o) => o.kind === 'payment_link' && o.detail.automatic === true).length;
  return makeLink(s, i, lastingName('lnk', i.invoiceId, 'recovery', number), ctx);
}

/**
 * Asks for a link of what is due. `id`: ours, from which its key is made. The invoice was read just now; the same state when nothing is
 * due, or no links are made by themselves.
 */
export function makeLink(s: LaneState, i: InvoiceRow, id: string, ctx: Ctx): LaneState {
  const { recoveryLinks } = ctx.settings;
  const { invoiceId, amountRemaining: minor, currency } = i;
  if (recoveryLinks === null || minor === null || minor <= 0n || currency === null) return s;
  const key = messageKey('create_payment_link', id, 1);
  const { returnUrl, expiresSec } = recoveryLinks;
  const jurisdiction = jurisdictionOf(s, i, recoveryLinks);
  const amount = { minor, currency };
  const wire = ctx.encodeMor({ kind: 'create_payment_link', jurisdiction, amount, returnUrl, expiresSec, key });
  const link = newMorObject(ctx.now, {
    id,
    kind: 'payment_link',
    invoiceId,
    status: ctx.settings.shadow === true ? 'REFUSED' : 'REQUESTED', // in shadow mode nobody is asked, now or later
    amount: minor,
    currency,
    detail: { automatic: true, jurisdiction },
  });
  const said = `make a payment link of ${showMoney(amount)} (${jurisdiction}): the renewal was not paid`;
  return note(askFor(s, link, wire, ctx), ctx, 'decision', said, id);
}

/** The customer's country, unless the MoR has refused to collect there for this invoice: then the one of the settings. */
function jurisdictionOf(s: LaneState, i: InvoiceRow, settings: RecoveryLinks): string {
  const country = i.customerCountry;
  if (country === null || s.objects.some((o) => isForeign(o) && o.detail.jurisdiction === country))
    return settings.jurisdiction;
  return country;
}

/** A link that was refused for its jurisdiction (Document 2: no arrangement there, or one that does not collect). */
function isForeign(o: MorObjectRow): boolean {
  const { automatic, refusal } = o.detail;
  // One that we took back ourselves says nothing of the country (mor-objects/rules/withdraw.ts).
  const isAboutIt =
    (refusal?.status === 409 && refusal.code !== NOT_PAYABLE) ||
    refusal?.errors.some((e) => e.field === 'jurisdiction') === true;
  return o.kind === 'payment_link' && automatic === true && isAboutIt;
}

/** True when another link can be asked for, under the jurisdiction of the settings. */
export function hasFallback(o: MorObjectRow, ctx: Ctx): boolean {
  const { jurisdiction } = o.detail;
  return isForeign(o) && jurisdiction !== undefined && jurisdiction !== ctx.settings.recoveryLinks?.jurisdiction;
}

/** When the invoice is to be read to make a link; null: no link is wanted, or nothing more need be known for it. */
export function recoveryLook(s: LaneState, ctx: Ctx): Date | null {
  const i = s.invoice;
  return i === null || !wantsLink(s, i, ctx) ? null : openLook(i, ctx);
}

/** When an invoice that must be open is to be read; null: it is, by a read made just now, or it never will be again. */
export function openLook(i: InvoiceRow, ctx: Pick<Ctx, 'now'>): Date | null {
  if (i.platformStatus === 'open' || i.platformStatus === 'unknown') return isFresh(i, ctx.now) ? null : ctx.now;
  if (i.platformStatus !== 'draft') return null;
  // Its end as a draft is told by an event; this is the net under it.
  const final =
    (i.finalizesAt ?? new Date((i.factsAt ?? i.firstSeenAt).getTime() + DRAFT_USUAL_LIFE_MS)).getTime() +
    DRAFT_LOOK_AFTER_MS;
  return new Date(Math.max(final, i.readAt === null ? 0 : i.readAt.getTime() + DRAFT_LOOK_EVERY_MS));
}

/** Refused, nothing taken or on its way, nobody asked, no other way to pay it, and no link since it was refused last. */
function wantsLink(s: LaneState, i: InvoiceRow, ctx: Ctx): boolean {
  // With a schedule of retries it is the schedule that says when a link is made.
  const told = s.payments.filter((p) => !saysNothing(p));
  if (ctx.settings.recoveryLinks === null || ctx.settings.retrySchedule !== null || told.length === 0) return false;
  if (i.billingReason === SIGNUP_REASON || (i.expectedBy === null && i.platformStatus !== 'unknown')) return false;
  const refused = told.every((p) => p.mark === 'none' && p.origin === 'renewal');
  if (!refused || s.refunds.length > 0 || s.reviews.some((r) => r.status === 'open')) return false;
  if (moneyAnnounced(s) !== null) return false;
  if (s.objects.some((o) => isLiveProforma(o) || isPayableLink(o, ctx.now))) return false;
  const links = s.objects.filter((o) => o.kind === 'payment_link' && o.status !== 'REPLACED');
  const own = links.filter((o) => o.detail.automatic === true);
  if (own.length >= RECOVERY_LINKS_MOST || own.some((o) => o.status === 'REFUSED')) return false;
  // A charge that a person has ordered again may still be answered.
  if (i.retries !== null && i.retries.waitingSince !== null) return false;
  // Another payment method is charged first.
  if (ctx.settings.relay && untriedMethod(i) !== null) return false;
  const since = Math.max(...told.map((p) => p.verdictAt?.getTime() ?? 0));
  return links.every((o) => o.status === 'REFUSED' || (!isUnread(s, o) && endOfLink(o).getTime() < since));
}

/**
 * A link that has ended is read once more: a payment in its last minute counts. One on which a payment was announced is read for good; a person
 * who looked into that after its end, and after the announcement, has found none.
 */
export function isUnread({ reviews }: Pick<LaneState, 'reviews'>, o: MorObjectRow): boolean {
  const since = new Date(Math.max(endOfLink(o).getTime(), heardAt(o)?.getTime() ?? 0));
  return o.readDueAt !== null && !isLookedInto(reviews, [o.id, unshown(o)], since);
}

/** The subject of an item about a link that ended and that the MoR does not show: apart from those about money that was announced on it. */
export const unshown = (o: MorObjectRow): string => `${o.id}:unshown`;

/** A link is to be made of what is due now: the invoice is read first. */
export const recoveryErrand: ErrandRule = (s, ctx, due) => {
  const i = s.invoice;
  const look = recoveryLook(s, ctx);
  return i !== null && look !== null && due(look) && due(i.readDueAt) ? readInvoice(i.invoiceId) : null;
};

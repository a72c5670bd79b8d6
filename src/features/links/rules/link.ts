// A payment link: its request, the MoR's facts about it, the automatic link after a failed renewal, and items for
// people.
import { type Mutable } from '../../../shared/domain/row.js';
import { decimalFromMinor, minorFromDecimal, type Money, showMoney } from '../../../shared/domain/money.js';
import { type InvoiceRow } from '../../../shared/domain/invoice-row.js';
import {
  announcedAt,
  endOfLink,
  heardAt,
  isLiveProforma,
  isPayableLink,
  isOpenLink,
  type MorObjectRow,
  type Observation,
  onObject,
} from '../../../shared/domain/mor-object.js';
import { type LinkFacts } from '../../../shared/domain/ports/mor-channels.js';
import { untriedMethod } from '../../../shared/domain/retry.js';
import { SIGNUP_REASON } from '../../../shared/domain/status.js';
import { openCallReview, refusalOf, subjectOfCall, type CallRule } from '../../../engine/call.js';
import { lastingName, retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { isFresh, pollOpenAt, invoiceLookup } from '../../../core/books/rules/invoice-facts.js';
import { type Holds, itemRule } from '../../../engine/items.js';
import { isUnread, moneyAnnounced } from '../../../core/books/rules/open-money.js';
import { saysNothing } from '../../../core/books/rules/payment-state.js';
import { objectLookup } from '../../../core/mor-objects/rules/read-object.js';
import { applyMoney, takenOn } from '../../../core/mor-objects/rules/object-money.js';
import { requestUnwanted, applyRefusal, applySilence } from '../../../core/mor-objects/rules/request.js';
import { hasFallback, requestLink } from './request-link.js';
import { LINK_CONFIRM_TRIES } from '../../../shared/policy.js';
import { LINK_SILENT_MS, RECOVERY_LINKS_MOST } from './limits.js';
import { nameFirst } from './announced.js';

export const createLinkCall: CallRule<'create_payment_link'> = {
  send: async ({ channels }, { wire }) => {
    const made = await channels.createLink(wire);
    return made.ok ? { ...made, value: { link: made.value } } : made;
  },
  order: 1,
  ...requestUnwanted,
  replied: (lane, { object: o }, { link }) => {
    if (o === undefined) return;
    o.morId = link.morId;
    applyLink(lane, o, link, 'answer');
  },
  refused: (lane, call, failure) => {
    applyRefusal(lane, call, failure);
    const { row, object: o } = call;
    // If a caller of the API requested the link, this caller gets the refusal. If money arrived on the link, linkItems
    // opens an item. In both cases no more is to do here.
    if (o?.detail.automatic !== true || heardAt(o) !== null) return;
    if (hasFallback(lane, o)) {
      o.status = 'REPLACED';
      const why = `the MoR does not collect in ${o.detail.jurisdiction ?? ''}: use the jurisdiction in the settings`;
      return lane.log('decision', why, o);
    }
    openCallReview(lane, row, { code: 'recovery-refused', ...refusalOf(row, failure) });
  },
  silent: applySilence,
  chosen: (lane, item, { resolution }) => {
    const link = lane.findObject(subjectOfCall(item));
    if (resolution !== 'retry' || link?.status !== 'REFUSED') return null;
    // Marks the refused link as replaced. Then settleRecovery requests another link under a new key.
    Object.assign(link, { status: 'REPLACED', updatedAt: lane.now });
    return null;
  },
};

export const linkLookup = objectLookup('payment_link', (lane, o, { link }) => applyLink(lane, o, link, 'read'));

/** Records the link's present facts. If the link is paid, its money counts from now on. */
function applyLink(lane: Lane, object: Mutable<MorObjectRow>, link: LinkFacts, source: 'answer' | 'read'): void {
  if (link.status !== object.status) object.updatedAt = lane.now;
  object.status = link.status;
  object.url = link.url;
  object.deadline = link.expiresAt ?? object.deadline;
  object.amount = link.priced?.minor ?? object.amount;
  object.currency = link.priced?.currency ?? object.currency;
  object.detail = {
    ...object.detail,
    priced: decimal(link.priced),
    due: decimal(link.due?.currency === object.currency ? link.due : null),
  };
  // The MoR announced a payment, but does not show the link as paid. The link may lag behind the event, or the two
  // contradict each other. So read the link again.
  if (link.status !== 'PAID' && announcedAt(object) !== null) {
    object.readDueAt ??= retryAt(lane.ctx, Math.max(1, object.readAttempts), null);
    return;
  }
  object.readDueAt = null;
  object.readAttempts = 0;
  if (link.status === 'PAID') applyPaid(lane, object, link, source);
}

function applyPaid(lane: Lane, object: Mutable<MorObjectRow>, link: LinkFacts, source: 'answer' | 'read'): void {
  const priced =
    link.priced ?? (object.amount === null || object.currency === null ? null : money(object.amount, object.currency));
  const left = link.due !== null && link.due.currency === priced?.currency ? link.due.minor : 0n;
  const received = priced === null || priced.minor <= left ? null : money(priced.minor - left, priced.currency);
  seePaid(lane, object, source, received);
  if (received === null) return;
  const at = announcedAt(object) ?? lane.now;
  const { payment } = applyMoney(lane, object, received, { at, eventId: null, parked: false });
  if (payment === null) return;
  lane.log('decision', `the link confirms the payment of ${showMoney(received)}`, payment);
  nameFirst(lane, object);
}

/** Stores an observation when a reply or a read first shows the link as paid. */
function seePaid(lane: Lane, object: Mutable<MorObjectRow>, source: 'answer' | 'read', received: Money | null): void {
  const { observed = [] } = object.detail;
  if (observed.some((x) => x.source !== 'event')) return;
  const at = lane.now.toISOString();
  const sum = { amount: received?.minor.toString() ?? null, currency: received?.currency ?? null };
  const x: Observation = { source, eventId: null, charge: null, paymentId: null, ...sum, at, heardAt: at };
  object.detail = { ...object.detail, observed: [...observed, x] };
}

function decimal(money: Money | null): string | null {
  return money === null ? null : decimalFromMinor(money.minor, money.currency);
}

function money(minor: bigint, currency: string): Money {
  return { minor, currency };
}

/** Expires payment links after their end, and connects a link with its booked payment. */
export function settleLinks(lane: Lane): void {
  for (const o of lane.objects) {
    if (o.kind !== 'payment_link') continue;
    if (o.status === 'PAYABLE' && !isPayableLink(o, lane.now)) {
      o.status = 'EXPIRED';
      o.updatedAt = lane.now;
    }
    if (isOpenLink(o)) lane.decideAgain(o.deadline);
    if (announcedAt(o) !== null) o.paymentRowId = takenOn(lane, o)?.id ?? null;
    nameFirst(lane, o); // a read for an API request books the payment without its id, so copy the id now
  }
}

// ---- Items for people

type LinkCode = 'link-paid' | 'link-lost' | 'link-unread' | 'link-not-paid' | 'link-part-paid';
type LinkFact = Holds<LinkCode>['fact'];

/**
 * Items for links with unclear money. While such an item is open, Crossbill neither charges nor makes another link
 * (core/books/rules/open-money.ts).
 */
export const linkItems = itemRule(
  {
    'link-paid': 'the ledger has the payment',
    'link-lost': 'the ledger has the payment, or the MoR shows the link again',
    'link-unread': 'the MoR answers again',
    'link-not-paid': 'Crossbill reads the link again, or the ledger has the payment',
    'link-part-paid': 'the ledger has the payment, or the MoR shows no part payment',
  },
  function* (lane) {
    for (const o of lane.objects) {
      if (o.kind !== 'payment_link' || o.paymentRowId !== null) continue;
      const fact = questionOf(lane, o);
      if (fact !== null) yield { kind: 'conflicting_event', about: o, fact, since: heardAt(o) };
    }
  },
);

function questionOf(lane: Lane, object: MorObjectRow): LinkFact | null {
  const on = onObject(object);
  const { silent } = object.detail;
  const isAnnounced = announcedAt(object) !== null;
  const isOver = !isPayableLink(object, lane.now);
  if (object.status === 'PAID') return { code: 'link-paid', ...on };
  if (isAnnounced && object.morId === null)
    return isAwaited(lane, object) ? null : { code: 'link-lost', why: 'not-given', announced: true, ...on };
  if (isAnnounced ? object.readDueAt === null : object.status === 'DELETED' && silent !== undefined)
    return { code: 'link-lost', why: 'gone', announced: isAnnounced, ...on };
  const isTried = object.readAttempts >= LINK_CONFIRM_TRIES;
  if (silent !== undefined) {
    if (!isTried || (!isAnnounced && !isOver)) return null;
    // The MoR may be down only for today, so wait before the item.
    if (silent.passes && !lane.isPast(new Date(Date.parse(silent.since) + LINK_SILENT_MS)))
      return openFact(lane, object);
    return { code: 'link-unread', announced: isAnnounced, ended: isOver, answer: silent.answer, ...on };
  }
  if (isAnnounced) return isTried ? { code: 'link-not-paid', status: object.status, ...on } : null;
  return partOf(object);
}

/** True while Crossbill waits for the MoR's reply to the request for the link. */
function isAwaited(lane: Lane, object: MorObjectRow): boolean {
  const isAsked = lane.calls.some(
    (m) => m.kind === 'create_payment_link' && m.subject === object.id && m.status === 'pending',
  );
  return isAsked && !lane.isPast(new Date((heardAt(object)?.getTime() ?? 0) + LINK_SILENT_MS));
}

/** Returns the fact of the open item about the link, so the item stays unchanged while the MoR does not reply. */
function openFact(lane: Lane, { id }: MorObjectRow): LinkFact | null {
  const open = lane.reviews.find((r) => r.status === 'open' && r.kind === 'conflicting_event' && r.subject === id);
  return open?.fact.code === 'link-not-paid' || open?.fact.code === 'link-unread' ? open.fact : null;
}

/**
 * An item for a link paid in part. `amountDue` (Document 2) is the amount still open. If this amount is below the price
 * at the link's end, the customer paid a part, and no event says so.
 */
function partOf(object: MorObjectRow): LinkFact | null {
  const { priced, due } = object.detail;
  if (object.status !== 'EXPIRED' || object.readDueAt !== null || object.currency === null) return null;
  const { currency } = object;
  const [whole, left] = [priced ?? null, due ?? null].map((x) => (x === null ? null : minorFromDecimal(x, currency)));
  if (typeof whole !== 'bigint' || typeof left !== 'bigint' || left >= whole) return null;
  const [all, outstanding] = [money(whole, currency), money(left, currency)];
  return { code: 'link-part-paid', priced: all, outstanding, part: money(whole - left, currency), ...onObject(object) };
}

// ---- The automatic link after a failed renewal

/** Requests a link for the amount due after a failed renewal, if Crossbill has just read the invoice as open. */
export function settleRecovery(lane: Lane): void {
  const i = lane.invoice;
  if (i === null || !wantsLink(lane, i)) return;
  if (i.platformStatus !== 'open' || !isFresh(i, lane.now)) return; // recoveryLookup reads the invoice first
  // The new link's id contains this number. Crossbill never deletes a link, so counting the links is enough.
  const number = 1 + lane.objects.filter((o) => o.kind === 'payment_link' && o.detail.automatic === true).length;
  requestLink(lane, lastingName('lnk', i.invoiceId, 'recovery', number));
}

/** Reads the invoice before Crossbill requests a link. */
export const recoveryLookup: typeof invoiceLookup = {
  ...invoiceLookup,
  wanted: (lane) => {
    const i = lane.invoice;
    const poll = i !== null && wantsLink(lane, i) ? pollOpenAt(i, lane) : null;
    if (i === null || !lane.isPast(poll)) return null;
    return i.readDueAt === null || lane.isPast(i.readDueAt) ? i.invoiceId : null;
  },
};

/**
 * True if Crossbill must make an automatic link. The MoR refused the renewal, and the customer has no other way to pay.
 * No money has arrived or is under way, and no item is open. Crossbill made no link since the last refusal.
 */
function wantsLink(lane: Lane, invoice: InvoiceRow): boolean {
  const { settings, now } = lane;
  const { payments, objects, reviews, refunds } = lane;
  // With a retry schedule, the schedule decides about links.
  const reported = payments.filter((p) => !saysNothing(p));
  if (settings.recoveryLinks === null || settings.retrySchedule !== null || reported.length === 0) return false;
  if (invoice.billingReason === SIGNUP_REASON || (invoice.expectedBy === null && invoice.platformStatus !== 'unknown'))
    return false;
  const refused = reported.every((p) => p.mark === 'none' && p.origin === 'renewal');
  if (!refused || refunds.length > 0 || reviews.some((r) => r.status === 'open')) return false;
  if (moneyAnnounced(lane) !== null) return false;
  if (objects.some((o) => isLiveProforma(o) || isPayableLink(o, now))) return false;
  const links = objects.filter((o) => o.kind === 'payment_link' && o.status !== 'REPLACED');
  const own = links.filter((o) => o.detail.automatic === true);
  if (own.length >= RECOVERY_LINKS_MOST || own.some((o) => o.status === 'REFUSED')) return false;
  // Crossbill has requested another charge and has no verdict on it: make no link yet.
  if (invoice.retries !== null && invoice.retries.waitingSince !== null) return false;
  // With a new payment method of the customer, Crossbill first requests a charge.
  if (settings.relay !== null && untriedMethod(invoice) !== null) return false;
  const since = Math.max(...reported.map((p) => p.verdictAt?.getTime() ?? 0));
  return links.every((o) => o.status === 'REFUSED' || (!isUnread(lane, o) && endOfLink(o).getTime() < since));
}

// Stripe's events. Crossbill turns events about invoices into typed facts, in any API version, and ignores all others.
import { type InvoiceFacts, type InvoiceStatus } from '../ports/billing-platform.js';
import { readInvoiceId } from './channel-lane.js';
import { type Envelope, eventTime, parseEvent, type ParsedEvent } from './envelope.js';
import {
  Fields,
  idOf,
  isObject,
  type JsonObject,
  member,
  partOf,
  textOf,
  textsOf,
  timeOf,
  Unreadable,
} from '@crossbill/mor/read.js';
import { freeText } from '../../masks/card-numbers.js';
import { parseBody } from './json-body.js';

/**
 * The event types Crossbill uses. It needs no `invoice.payment_succeeded`, because `invoice.paid` reports the same, and
 * no `invoice.payment_action_required`, because `invoice.payment_failed` reports the same. Four types change nothing
 * here: `invoice.sent`, `.upcoming`, `.will_be_due`, `.overdue`.
 */
export const stripeInvoiceTypes = [
  'invoice.created',
  'invoice.finalized',
  'invoice.updated',
  'invoice.voided',
  'invoice.marked_uncollectible',
  'invoice.paid',
  'invoice.payment_failed',
  'invoice.finalization_failed',
  'invoice.overpaid',
  'invoice.payment_attempt_required',
  'invoice.deleted',
] as const;
export type StripeInvoiceType = (typeof stripeInvoiceTypes)[number];

export type StripeEvent = {
  readonly kind: StripeInvoiceType;
  readonly eventId: string;
  /** The time of the event, or else of its invoice, in whole seconds: too coarse to order events. Null: unknown. */
  readonly createdAt: Date | null;
  /** The API version Stripe used for the invoice in the event. Null: unknown. */
  readonly apiVersion: string | null;
  /** True: live mode. False: test mode. Null: the event does not say. */
  readonly livemode: boolean | null;
  /**
   * The accounts the event names in `account` and `context`. Empty: the event belongs to the merchant's own account.
   */
  readonly accounts: readonly string[];
  /** The invoice at the time of the event. For `invoice.deleted` its status is `deleted`. */
  readonly invoice: InvoiceFacts;
};

/**
 * For an invoice without a status: the status implied by the event type. A wrong guess does no harm: Crossbill reads
 * the invoice at Stripe before any write.
 */
const STATUS_AFTER: Partial<Record<StripeInvoiceType, InvoiceStatus>> = {
  'invoice.created': 'draft',
  'invoice.finalized': 'open',
  'invoice.voided': 'void',
  'invoice.marked_uncollectible': 'uncollectible',
  'invoice.paid': 'paid',
  'invoice.payment_failed': 'open',
  'invoice.finalization_failed': 'draft',
  'invoice.payment_attempt_required': 'open',
};

/** Parses a delivery to the Stripe endpoint. The lane's name is the invoice's id. Never throws. */
export function parseStripeEvent(body: Buffer): ParsedEvent<StripeEvent> {
  return parseEvent('stripe', body, readStripeEvent);
}

/**
 * Stripe's thin events for v1 objects have `v1.` in front of the type's name (docs.stripe.com/events/how-events-work;
 * general since API version 2026-09-30). They carry no invoice. A webhook endpoint set to thin events would lose every
 * invoice silently, so Crossbill parks such events and opens an item.
 */
const THIN =
  "a thin event, without the invoice itself: set this webhook endpoint's payload style to snapshot on Stripe";

/**
 * Before this version an invoice has no status, and `invoice.paid` does not exist (Stripe docs, "API upgrades",
 * 2018-11-08).
 */
const OLDEST_VERSION = '2018-11-08';

/** True if Crossbill cannot read invoices of this API version. False for null, an unknown version. */
export function isTooOld(apiVersion: string | null): boolean {
  return apiVersion !== null && /^\d{4}-\d\d-\d\d/.test(apiVersion) && apiVersion < OLDEST_VERSION;
}

/** True if Stripe rendered the event in an API version older than `OLDEST_VERSION`. */
export function isRenderedTooOld(body: Buffer): boolean {
  const read = parseBody(body);
  return read.ok && isTooOld(textOf(member(read.value, 'api_version')));
}

/** Tells the operator how to get events of a newer API version. */
export const TOO_OLD = `Crossbill reads invoices of API version ${OLDEST_VERSION} and later. Add a webhook endpoint with a later version at Stripe, then remove the old one`;

function readStripeEvent({ eventId, type, root }: Envelope): { lane: string; event: StripeEvent } | null {
  const kind = stripeInvoiceTypes.find((known) => known === type);
  const apiVersion = textOf(member(root, 'api_version'));
  if (isTooOld(apiVersion) && (kind !== undefined || type === 'invoice.payment_succeeded'))
    throw new Unreadable('api_version', '', `the API version of this event is too old: ${TOO_OLD}`);
  if (kind === undefined && stripeInvoiceTypes.some((known) => type === `v1.${known}`))
    throw new Unreadable('type', '', THIN);
  if (kind === undefined) return null;
  const livemode = member(root, 'livemode');
  const facts = readInvoice(new Fields(new Fields(root).object('data')).object('object'), {
    // The invoice in the event does not show that the draft was deleted. Only the event type does.
    deleted: kind === 'invoice.deleted',
    status: STATUS_AFTER[kind] ?? null,
  });
  const event: StripeEvent = {
    kind,
    eventId,
    createdAt: eventTime(root) ?? facts.createdAt,
    apiVersion,
    livemode: typeof livemode === 'boolean' ? livemode : null,
    accounts: readAccounts(root),
    // The event's type proves a failed finalization, even if its invoice carries no error.
    invoice:
      kind === 'invoice.finalization_failed'
        ? { ...facts, finalizationError: facts.finalizationError ?? NO_REASON }
        : facts,
  };
  return { lane: facts.invoiceId, event };
}

/**
 * `context` is an account, or a path from an organization to an account (Stripe docs, "The Event object",
 * "Stripe-Context").
 */
function readAccounts(root: JsonObject): readonly string[] {
  const account = idOf(member(root, 'account'));
  const context = textOf(member(root, 'context'))?.split('/').at(-1) ?? '';
  const named = [account ?? '', context.startsWith('acct_') ? context : ''];
  return [...new Set(named)].filter((id) => id !== '');
}

export type InvoiceResult =
  { readonly ok: true; readonly invoice: InvoiceFacts } | { readonly ok: false; readonly problem: string };

/**
 * Parses an invoice of Stripe's API, from an event or an answer, in the shapes before and since API version 2025-03-31.
 * Never throws.
 */
export function parseInvoice(object: unknown): InvoiceResult {
  if (!isObject(object)) return { ok: false, problem: 'the invoice is not an object' };
  try {
    const deleted = member(object, 'deleted') === true;
    return { ok: true, invoice: readInvoice(object, { deleted, status: null }) };
  } catch (problem) {
    if (problem instanceof Unreadable) return { ok: false, problem: problem.message };
    throw problem;
  }
}

const statuses: readonly InvoiceStatus[] = ['draft', 'open', 'paid', 'uncollectible', 'void'];

type Otherwise = { readonly deleted: boolean; readonly status: InvoiceStatus | null };

/** Reads the invoice. An invoice without a status gets `otherwise.status`. */
function readInvoice(invoice: JsonObject, otherwise: Otherwise): InvoiceFacts {
  const fields = new Fields(invoice);
  if ((member(invoice, 'object') ?? 'invoice') !== 'invoice') throw new Unreadable('object', 'an invoice');
  const invoiceId = readInvoiceId(fields, 'id');
  const customerId = idOf(member(invoice, 'customer'));
  if (customerId === null) throw new Unreadable('customer', 'a usable id');
  const createdAt = fields.timeOrNull('created');
  const status = otherwise.deleted ? 'deleted' : readStatus(invoice, otherwise.status);
  return {
    invoiceId,
    customerId,
    customerCountry: readCountry(member(invoice, 'customer_address')),
    number: textOf(member(invoice, 'number')),
    status,
    billingReason: textOf(member(invoice, 'billing_reason')),
    currency: fields.currency(),
    ...readAmounts(fields, status),
    subscriptionId: readSubscription(invoice),
    ...readMetadata(invoice),
    ...readCollection(invoice),
    ...readRevision(invoice),
    collectionMethod: textOf(member(invoice, 'collection_method')),
    createdAt,
    finalizationError: readFinalizationError(member(invoice, 'last_finalization_error')),
    finalizesAt: timeOf(member(invoice, 'automatically_finalizes_at')),
  };
}

/**
 * The country of the customer's address on the invoice. A final invoice keeps its address; a draft shows the customer's
 * current one (Stripe docs, "The Invoice object").
 */
function readCountry(address: unknown): string | null {
  const country = textOf(partOf(address)['country']);
  return country !== null && /^[A-Z]{2}$/.test(country) ? country : null;
}

function readStatus(invoice: JsonObject, otherwise: InvoiceStatus | null): InvoiceStatus {
  const value = member(invoice, 'status') ?? otherwise;
  const status = statuses.find((known) => known === value);
  if (status === undefined) throw new Unreadable('status', 'a known one');
  return status;
}

type Amounts = Pick<
  InvoiceFacts,
  'amountDue' | 'amountPaid' | 'amountRemaining' | 'amountOverpaid' | 'total' | 'amountCredited' | 'olderDebt'
>;

/**
 * Stripe docs, "The Invoice object": `amount_remaining` is the amount due minus the amount paid. If the remaining or
 * the paid amount is missing, Crossbill computes it. If both are missing, the status shows whether anything is left.
 * `total` plays no part in this.
 */
function readAmounts(invoice: Fields, status: InvoiceStatus): Amounts {
  const amountDue = invoice.minor('amount_due', 0n);
  const paid = invoice.minorOrNull('amount_paid', 0n);
  const remaining = invoice.minorOrNull('amount_remaining', -amountLimit);
  const before = invoice.minorOrNull('pre_payment_credit_notes_amount', 0n);
  const after = invoice.minorOrNull('post_payment_credit_notes_amount', 0n);
  const total = invoice.minorOrNull('total', -amountLimit); // below zero if the customer has credit
  // Credit notes from before the payment lowered the amount due, and not the total.
  const debt = total === null ? 0n : amountDue + (before ?? 0n) - (total > 0n ? total : 0n);
  const left = remaining ?? (paid !== null ? amountDue - paid : status === 'paid' ? 0n : amountDue);
  return {
    amountDue,
    amountPaid: paid ?? amountDue - left,
    amountRemaining: left,
    amountOverpaid: invoice.minorOrNull('amount_overpaid', 0n),
    total: total ?? amountDue,
    olderDebt: debt > 0n ? debt : 0n,
    ...(before === null && after === null ? {} : { amountCredited: (before ?? 0n) + (after ?? 0n) }),
  };
}
const amountLimit = BigInt(Number.MAX_SAFE_INTEGER);

/**
 * Reads `parent.subscription_details.subscription` (since 2025-03-31.basil) or `subscription` (before). Null: the
 * invoice belongs to no subscription.
 */
function readSubscription(invoice: JsonObject): string | null {
  const parent = member(invoice, 'parent');
  const details = isObject(parent) ? member(parent, 'subscription_details') : null;
  const since = isObject(details) ? idOf(member(details, 'subscription')) : null;
  return since ?? idOf(member(invoice, 'subscription'));
}

/** Reads the metadata of `parent.subscription_details` (since 2025-03-31.basil) or `subscription_details` (before). */
function readMetadata(invoice: JsonObject): Pick<InvoiceFacts, 'metadata'> {
  const parent = member(invoice, 'parent');
  const details = member(isObject(parent) ? parent : invoice, 'subscription_details');
  const metadata = isObject(details) ? member(details, 'metadata') : null;
  return isObject(metadata) && Object.keys(metadata).length > 0 ? { metadata: textsOf(metadata) } : {};
}

/** The fields that decide whether Stripe collects the invoice automatically. */
function readCollection(invoice: JsonObject): Pick<InvoiceFacts, 'autoAdvance' | 'ownMethodId'> {
  const autoAdvance = member(invoice, 'auto_advance');
  const own = idOf(member(invoice, 'default_payment_method')) ?? idOf(member(invoice, 'default_source'));
  return {
    ...(typeof autoAdvance === 'boolean' ? { autoAdvance } : {}),
    ...(own === null ? {} : { ownMethodId: own }),
  };
}

/** Reads the newest revision. Stripe voids an invoice when its revision is final (Stripe docs, "Revise an invoice"). */
function readRevision(invoice: JsonObject): Pick<InvoiceFacts, 'latestRevision'> {
  const latest = idOf(member(invoice, 'latest_revision'));
  return latest === null ? {} : { latestRevision: latest };
}

const NO_REASON = 'no reason given';

function readFinalizationError(error: unknown): string | null {
  if (!isObject(error)) return null;
  return freeText(member(error, 'message')) ?? textOf(member(error, 'code')) ?? NO_REASON;
}

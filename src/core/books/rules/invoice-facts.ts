// Stripe's facts about an invoice, from events and reads in any order, and the time of the next read.
import { INVOICE, type InvoiceRow, type PlatformStatus } from '../../../shared/domain/invoice-row.js';
import { showMoney } from '../../../shared/domain/money.js';
import { type InvoiceFacts } from '../../../shared/domain/ports/billing-platform.js';
import { type CallOutcome, mayPass, codesOf } from '../../../shared/domain/ports/call.js';
import { newRow, type Mutable } from '../../../shared/domain/row.js';
import { retryAt } from '../../../engine/context.js';
import { type Lane } from '../../../engine/lane.js';
import { askFor, type NextRequest, type Lookup, READ_INVOICE } from '../../../engine/lookup.js';
import {
  DRAFT_POLL_AFTER_MS,
  DRAFT_POLL_EVERY_MS,
  DRAFT_USUAL_LIFE_MS,
  FAILED_READS_SHOWN,
  READ_FRESH_MS,
} from '../../../shared/policy.js';

// How far an invoice has come, by its status. A late event never brings an earlier status back.
const PROGRESS: Record<PlatformStatus, number> = {
  unknown: -1,
  draft: 0,
  open: 1,
  uncollectible: 2,
  void: 3,
  paid: 3,
  deleted: 3,
};

/** The lane's invoice. The first event about it makes the row. */
export function ensureInvoice(lane: Lane): Mutable<InvoiceRow> {
  if (lane.invoice !== null) return lane.invoice;
  lane.invoice = newRow(INVOICE, { invoiceId: lane.lane, firstSeenAt: lane.now });
  return lane.invoice;
}

/** Schedules a read of the invoice now. `invoiceLookup` makes the read. */
export function askAgain({ invoice, now }: Lane): void {
  if (invoice !== null) Object.assign(invoice, { readAt: null, readDueAt: now });
}

/** Records the facts of a finished read, or of the reply to a write. `readAt`: the time of the read, by default now. */
export function applyRead(lane: Lane, facts: InvoiceFacts | null, readAt = lane.now): void {
  const i = ensureInvoice(lane);
  const shown = facts === null ? { platformStatus: 'deleted' as const } : taken(facts, i);
  Object.assign(i, shown, { readAt, readDueAt: null, readAttempts: 0, factsAt: readAt });
}

/**
 * Records the facts of a read that began at `askedAt`. An event may have arrived during the read. If the read shows a
 * later status than the event, the read is newer. If the read shows an earlier status, the read is older, whatever
 * Stripe's clock says: Crossbill drops the read and reads again.
 */
export function applyLateRead(lane: Lane, facts: InvoiceFacts, askedAt: Date): void {
  const { invoice } = lane;
  const ahead = PROGRESS[facts.status] - PROGRESS[invoice?.platformStatus ?? 'unknown'];
  if (ahead < 0 || (ahead === 0 && isHeardSince(invoice, askedAt))) askAgain(lane);
  else applyRead(lane, facts, askedAt);
}

/**
 * True if a read or an event brought facts about the invoice after `askedAt`. A read begun at `askedAt` is then
 * outdated. Stripe's event times are whole seconds, so an event of the same second counts as later.
 */
export function isHeardSince(invoice: InvoiceRow | null, askedAt: Date): boolean {
  const asked = askedAt.getTime();
  const read = invoice?.readAt?.getTime() ?? 0;
  const facts = invoice?.factsAt?.getTime() ?? 0;
  return read > asked || (facts !== read && facts >= asked - (asked % 1_000));
}

/**
 * Records the facts of an event if they are newer than the stored ones: the invoice's status is further on, or the
 * status is equal and the event's time `at` is not earlier.
 */
export function recordEvent(lane: Lane, facts: InvoiceFacts, at: Date): void {
  const i = ensureInvoice(lane);
  const ahead = PROGRESS[facts.status] - PROGRESS[i.platformStatus];
  const newer = i.factsAt === null || at.getTime() >= i.factsAt.getTime();
  if (ahead > 0 || (ahead === 0 && newer)) {
    Object.assign(i, taken(facts, i), { factsAt: at });
    return;
  }
  // A late event still fills empty columns.
  i.customerId ??= facts.customerId;
  i.customerCountry ??= facts.customerCountry;
  i.number ??= facts.number;
  i.billingReason ??= facts.billingReason;
  i.subscriptionId ??= facts.subscriptionId;
  i.platformCreatedAt ??= facts.createdAt;
  if (i.platformStatus === 'draft') i.finalizationError ??= facts.finalizationError;
}

/**
 * The new values of the row. Stripe clears a finalization error only when it finalizes the invoice. So if an event
 * about a draft shows no error, the draft keeps its last known error.
 */
function taken(invoice: InvoiceFacts, known: InvoiceRow): Partial<InvoiceRow> {
  return {
    customerId: invoice.customerId,
    customerCountry: invoice.customerCountry,
    ...(invoice.number === null ? {} : { number: invoice.number }),
    platformStatus: invoice.status,
    billingReason: invoice.billingReason,
    currency: invoice.currency,
    amountDue: invoice.amountDue,
    amountPaid: invoice.amountPaid,
    amountRemaining: invoice.amountRemaining,
    ...(invoice.amountOverpaid === null ? asKnown(invoice, known) : { amountOverpaid: invoice.amountOverpaid }),
    total: invoice.total,
    amountCredited: invoice.amountCredited ?? known.amountCredited,
    olderDebt: invoice.olderDebt ?? known.olderDebt,
    subscriptionId: invoice.subscriptionId,
    collectionMethod: invoice.collectionMethod,
    autoAdvance: invoice.autoAdvance ?? null,
    ownMethodId: invoice.ownMethodId ?? null,
    latestRevision: invoice.latestRevision ?? known.latestRevision,
    ...(invoice.createdAt === null ? {} : { platformCreatedAt: invoice.createdAt }),
    finalizesAt: invoice.finalizesAt,
    finalizationError: invoice.status === 'draft' ? (invoice.finalizationError ?? known.finalizationError) : null,
  };
}

/**
 * In API versions before 2025-03-31 Stripe sends no overpaid amount, and its amount paid leaves out money paid out of
 * band. If an event in a newer API version has given a paid invoice a larger amount paid, the invoice keeps the larger
 * amount.
 */
function asKnown(invoice: InvoiceFacts, { platformStatus, amountPaid }: InvoiceRow): Partial<InvoiceRow> {
  const isLess =
    invoice.status === 'paid' && platformStatus === 'paid' && amountPaid !== null && invoice.amountPaid < amountPaid;
  return isLess ? { amountPaid } : {};
}

export function isFresh(invoice: InvoiceRow | null, now: Date): boolean {
  if (invoice === null || invoice.readAt === null) return false;
  // Takes the absolute difference. After somebody sets the clock back, the last read lies in the future, and a negative
  // difference would count as fresh for too long.
  return Math.abs(now.getTime() - invoice.readAt.getTime()) <= READ_FRESH_MS;
}

/**
 * Some steps need an open invoice. Returns when to read the invoice at Stripe before such a step. Null: a fresh read
 * shows the invoice open, or the invoice can never become open again.
 */
export function pollOpenAt(invoice: InvoiceRow, { now }: { readonly now: Date }): Date | null {
  if (invoice.platformStatus === 'open' || invoice.platformStatus === 'unknown')
    return isFresh(invoice, now) ? null : now;
  if (invoice.platformStatus !== 'draft') return null;
  // Stripe reports a finalized draft by an event. This read notices the finalization even if the event is lost.
  const final =
    (
      invoice.finalizesAt ?? new Date((invoice.factsAt ?? invoice.firstSeenAt).getTime() + DRAFT_USUAL_LIFE_MS)
    ).getTime() + DRAFT_POLL_AFTER_MS;
  return new Date(Math.max(final, invoice.readAt === null ? 0 : invoice.readAt.getTime() + DRAFT_POLL_EVERY_MS));
}

/** Makes the next write to the invoice wait for a new read. */
export function requireRead({ invoice }: Lane): void {
  if (invoice !== null) Object.assign(invoice, { readAt: null, readDueAt: null });
}

export const invoiceLookup: Lookup<string, CallOutcome<InvoiceFacts | null>> = {
  name: READ_INVOICE,
  wanted: (lane) => {
    const i = lane.invoice;
    if (i === null || i.readAt !== null || i.readDueAt === null) return null;
    return lane.isPast(i.readDueAt) ? i.invoiceId : null;
  },
  ask: (invoiceId, { platform }) => platform.readInvoice(invoiceId),
  apply: applyInvoiceRead,
};

/** The request to read the invoice next, for a rule in need of Stripe's current facts. */
export function readInvoice(invoiceId: string): NextRequest {
  return askFor(invoiceLookup, invoiceId);
}

/** Records the outcome of a read. Crossbill repeats a failed read later. */
export function applyInvoiceRead(lane: Lane, outcome: CallOutcome<InvoiceFacts | null>): void {
  const detail = { call: 'read_invoice', status: outcome.status, requestId: outcome.requestId };
  if (outcome.ok) {
    const f = outcome.value;
    applyRead(lane, f);
    const due = f === null ? '' : showMoney({ minor: f.amountRemaining, currency: f.currency });
    return lane.log(
      'call',
      `read from Stripe: ${f === null ? 'no such invoice' : `${f.status}, ${due} due`}`,
      null,
      detail,
    );
  }
  const i = ensureInvoice(lane);
  i.readAttempts += 1;
  i.readDueAt = retryAt(lane.ctx, i.readAttempts, outcome.retryAfterMs, !mayPass(outcome));
  if (i.readAttempts <= FAILED_READS_SHOWN)
    lane.log('call', `read from Stripe failed: ${codesOf(outcome)}`, null, detail);
}

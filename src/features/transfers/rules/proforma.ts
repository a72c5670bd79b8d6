// Proforma invoices: the MoR's replies and events, and the bank transfers for them.
import { type Mutable } from '../../../shared/domain/row.js';
import { isObject } from '@crossbill/mor/read.js';
import { idsIn, type MorServiceEvent } from '../../../shared/domain/events/mor-service-event.js';
import { textNamed, timeNamed, wordNamed } from '../../../shared/domain/events/payload-fields.js';
import { has, type MorObjectRow, onObject, TRANSFERRED } from '../../../shared/domain/mor-object.js';
import { showMoney } from '../../../shared/domain/money.js';
import { keepCode } from '../../../shared/domain/foreign-words.js';
import { type ProformaFacts } from '../../../shared/domain/ports/mor-channels.js';
import { type CallRule } from '../../../engine/call.js';
import { type Lane } from '../../../engine/lane.js';
import { done, type EventOutcome } from '../../../engine/event.js';
import { itemRule } from '../../../engine/items.js';
import { findOrAddObject } from '../../../core/mor-objects/rules/mor-object.js';
import { objectLookup } from '../../../core/mor-objects/rules/read-object.js';
import { applyMoney } from '../../../core/mor-objects/rules/object-money.js';
import { requestUnwanted, applyRefusal, applySilence } from '../../../core/mor-objects/rules/request.js';
import { type ProformaSettled } from '../events.js';
import { TRANSFER_TIMEOUT_MS } from './limits.js';

export const createProformaCall: CallRule<'create_proforma'> = {
  send: async ({ channels }, { wire, key }) => {
    const made = await channels.createProforma(wire, key);
    return made.ok ? { ...made, value: { made: made.value } } : made;
  },
  order: 1,
  ...requestUnwanted,
  replied: (lane, { object: o }, { made }) => {
    if (o === undefined) return;
    const isNew = made.kind === 'made';
    const morId = isNew ? made.proforma.morId : made.morId;
    // The MoR has only one live proforma invoice for a reference (Document 2). So the MoR may return an existing
    // proforma invoice, in any status, and Crossbill uses it.
    if (!isNew) lane.log('decision', `the MoR already has proforma invoice ${morId}: Crossbill uses it`, o);
    const twin = lane.objects.find((x) => x.id !== o.id && x.kind === o.kind && x.morId === morId);
    if (twin !== undefined) return replace(lane, o, twin);
    o.morId = morId;
    if (!isNew) return void Object.assign(o, { readDueAt: lane.now, readAttempts: 0, updatedAt: lane.now });
    if (made.retryAfterMs !== null) o.readDueAt = lane.in(made.retryAfterMs);
    // The reply to a request always says PENDING, even if the proforma invoice has a later status by now.
    applyProforma(lane, o, o.status === 'REQUESTED' ? made.proforma : { ...made.proforma, status: o.status });
  },
  refused: applyRefusal,
  silent: applySilence,
};

/**
 * Ends row `object` as `REPLACED`, because row `twin` has the same proforma invoice. Crossbill reads the proforma invoice
 * again for `twin`.
 */
function replace(lane: Lane, object: Mutable<MorObjectRow>, twin: Mutable<MorObjectRow>): void {
  object.detail = { ...object.detail, replacedBy: twin.id };
  Object.assign(object, { status: 'REPLACED', updatedAt: lane.now });
  Object.assign(twin, { readDueAt: lane.now, readAttempts: 0 });
}

export const proformaLookup = objectLookup('proforma', (lane, o, { proforma }) => {
  o.readDueAt = null;
  o.readAttempts = 0;
  applyProforma(lane, o, proforma);
});

function applyProforma(lane: Lane, object: Mutable<MorObjectRow>, proforma: ProformaFacts): void {
  if (proforma.status !== object.status) object.updatedAt = lane.now;
  object.status = proforma.status;
  object.number = proforma.number ?? object.number;
  const { failure } = proforma;
  const failedAt = failure?.failedAt?.toISOString() ?? null;
  object.detail = {
    ...object.detail,
    merchantReference: proforma.merchantReference ?? object.detail.merchantReference ?? null,
    ...(failure === null ? {} : { failure: { ...failure, failedAt } }),
  };
}

// The statuses in their order: a late event must not bring back an earlier status. A status outside this list counts as
// later, because Document 2 has no event for it.
const ORDER = ['REQUESTED', 'PENDING_TAX_TRANSACTION', 'ISSUED', 'ISSUANCE_FAILED', 'SETTLED'];

function rankOf(status: string): number {
  const at = ORDER.indexOf(status);
  return at < 0 ? ORDER.length : at;
}

/** Moves the proforma invoice to this status, unless its present status is later. */
function move(lane: Lane, morId: string, status: string): Mutable<MorObjectRow> {
  const o = findOrAddObject(lane, 'proforma', morId);
  if (o.status === 'UNKNOWN' || rankOf(status) > rankOf(o.status)) o.status = status;
  o.updatedAt = lane.now;
  return o;
}

function proformaId(lane: Lane, event: MorServiceEvent): string | null {
  const ids = new Set(idsIn(event.data));
  const known = lane.objects.find((o) => o.kind === 'proforma' && has(ids, o.morId));
  return event.proformaInvoiceId ?? known?.morId ?? null;
}

export function applyIssued(lane: Lane, event: MorServiceEvent): EventOutcome {
  const morId = proformaId(lane, event);
  if (morId === null) return done('names no proforma invoice of ours');
  const o = move(lane, morId, 'ISSUED');
  o.number ??= wordNamed(event.data, 'number');
  return done(`proforma invoice ${o.number ?? morId} is ${o.status}`);
}

export function applyIssuanceFailed(lane: Lane, event: MorServiceEvent): EventOutcome {
  const morId = proformaId(lane, event);
  if (morId === null) return done('names no proforma invoice of ours');
  const o = move(lane, morId, 'ISSUANCE_FAILED');
  o.number ??= wordNamed(event.data, 'number');
  const inside = isObject(event.data['issuanceFailure']) ? event.data['issuanceFailure'] : event.data;
  const failure = {
    code: wordNamed(inside, 'code'),
    message: textNamed(inside, 'message', 'reason'),
    failedAt: timeNamed(inside, 'failedAt')?.toISOString() ?? null,
  };
  o.detail = { ...o.detail, failure };
  const why = failure.code === null ? 'no code given' : keepCode(failure.code);
  return done(`proforma invoice ${o.number ?? morId} was not issued: ${why}`);
}

/**
 * Records Document 2's `proforma_invoice.settled`. `amountReceived` may differ from the total. If less than the total
 * has arrived, a person decides about the part payment.
 */
export function applySettled(lane: Lane, proformaSettled: ProformaSettled): EventOutcome {
  const { proformaInvoiceId: morId, total, amountReceived: received } = proformaSettled;
  const o = move(lane, morId, 'SETTLED');
  Object.assign(o, { amount: total.minor, currency: total.currency });
  const short = received.currency === total.currency && received.minor < total.minor;
  const { payment, said } = applyMoney(lane, o, received, {
    at: proformaSettled.settledAt,
    eventId: proformaSettled.eventId,
    parked: short,
  });
  if (payment === null || !short) return done(said);
  const missing = { minor: total.minor - received.minor, currency: total.currency };
  lane.openReview({
    kind: 'partial_transfer',
    subject: payment.id,
    paymentRowId: payment.id,
    fact: { code: 'transfer-short', received, total, missing, proforma: o.number ?? morId },
  });
  return done(`the customer sent ${showMoney(received)}, ${showMoney(missing)} is missing: the invoice stays open`);
}

/**
 * Items for a paid bank transfer that Crossbill knows only from a read. Only the MoR's event has the amount received.
 * The MoR repeats this event for some hours (Document 2), so the item opens only after TRANSFER_TIMEOUT_MS.
 */
export const unheardTransfers = itemRule({ 'transfer-unheard': 'the ledger has the transfer' }, function* (lane) {
  for (const o of lane.objects) {
    if (o.kind !== 'proforma' || o.paymentRowId !== null || !TRANSFERRED.has(o.status)) continue;
    if (!lane.isPast(new Date(o.updatedAt.getTime() + TRANSFER_TIMEOUT_MS))) continue;
    yield { kind: 'conflicting_event', about: o, fact: { code: 'transfer-unheard', ...onObject(o) } };
  }
});

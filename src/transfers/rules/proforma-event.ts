// What the MoR says of a proforma invoice: issued, not issued, or settled by a bank transfer.
import { idsIn, type MorServiceEvent, type ProformaSettled } from '../../domain/events/mor-service-event.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { done, type Verdict } from '../../engine/event.js';
import { findOrAddObject } from '../../mor-objects/rules/mor-object.js';
import { textNamed, timeNamed, wordNamed } from '../../domain/events/payload-fields.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { isJsonObject } from '../../domain/events/json-body.js';
import { takeMoney } from '../../mor-objects/rules/take-money.js';
import { showMoney } from '../../domain/money.js';

// How far along a proforma invoice is: news that come late do not turn it back. States the document shows no moves for come last.
const PROFORMA_ORDER = ['REQUESTED', 'PENDING_TAX_TRANSACTION', 'ISSUED', 'ISSUANCE_FAILED', 'SETTLED'];

function further(before: string, now: string): string {
  const rank = (status: string): number => {
    const at = PROFORMA_ORDER.indexOf(status);
    return at < 0 ? PROFORMA_ORDER.length : at;
  };
  return rank(now) > rank(before) ? now : before;
}

function proformaId(lane: Lane, e: MorServiceEvent): string | null {
  const ids = new Set(idsIn(e.data));
  const known = lane.objects.find((o) => o.kind === 'proforma' && o.morId !== null && ids.has(o.morId));
  return e.proformaInvoiceId ?? known?.morId ?? null;
}

/** The proforma invoice is at least so far along. */
function move(lane: Lane, morId: string, status: string): Draft<MorObjectRow> {
  const o = findOrAddObject(lane, 'proforma', morId);
  o.status = further(o.status === 'UNKNOWN' ? 'REQUESTED' : o.status, status);
  o.updatedAt = lane.now;
  return o;
}

export function takeIssued(lane: Lane, e: MorServiceEvent): Verdict {
  const morId = proformaId(lane, e);
  if (morId === null) return done('names no proforma invoice of ours');
  const o = move(lane, morId, 'ISSUED');
  o.number ??= wordNamed(e.data, 'number');
  return done(`proforma invoice ${o.number ?? morId} is ${o.status}`);
}

export function takeIssuanceFailed(lane: Lane, e: MorServiceEvent): Verdict {
  const morId = proformaId(lane, e);
  if (morId === null) return done('names no proforma invoice of ours');
  const o = move(lane, morId, 'ISSUANCE_FAILED');
  o.number ??= wordNamed(e.data, 'number');
  const inside = isJsonObject(e.data['issuanceFailure']) ? e.data['issuanceFailure'] : e.data;
  const failure = {
    code: wordNamed(inside, 'code'),
    message: textNamed(inside, 'message', 'reason'),
    failedAt: timeNamed(inside, 'failedAt')?.toISOString() ?? null,
  };
  o.detail = { ...o.detail, failure };
  const why = failure.message ?? failure.code ?? 'no reason given';
  return done(`proforma invoice ${o.number ?? morId} was not issued: ${why}`);
}

/** Document 2, `proforma_invoice.settled`: `amountReceived` may differ from the total. Less is no full payment. */
export function takeSettled(lane: Lane, e: ProformaSettled): Verdict {
  const { proformaInvoiceId: morId, total, amountReceived: received } = e;
  const o = move(lane, morId, 'SETTLED');
  Object.assign(o, { amount: total.minor, currency: total.currency });
  const short = received.currency === total.currency && received.minor < total.minor;
  const how = { at: e.settledAt, eventId: e.eventId, parked: short };
  const taken = lane.applyWith((s, ctx) => takeMoney(s, o, received, how, ctx));
  const { payment } = taken;
  if (payment === null || !short) return done(taken.said);
  const missing = { minor: total.minor - received.minor, currency: total.currency };
  lane.ask({
    kind: 'partial_transfer',
    subject: payment.id,
    paymentRowId: payment.id,
    fact: { code: 'transfer-short', received, total, missing, proforma: o.number ?? morId },
  });
  return done(`${showMoney(received)} came, ${showMoney(missing)} is missing: the invoice is left open`);
}

// What the MoR says of a proforma invoice: issued, not issued, or settled by a bank transfer.
import { type LaneState } from '../../domain/model.js';
import { idsIn, type MorServiceEvent, type ProformaSettled } from '../../domain/events/mor-service-event.js';
import { type Ctx, openReview, putObject } from '../../engine/change.js';
import { type Applied, done } from '../../engine/event.js';
import { objectOf } from '../../mor-objects/rules/mor-object.js';
import { textNamed, timeNamed, wordNamed } from '../../mor-objects/rules/channel-fields.js';
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

function proformaId(s: LaneState, e: MorServiceEvent): string | null {
  const ids = new Set(idsIn(e.data));
  const known = s.objects.find((o) => o.kind === 'proforma' && o.morId !== null && ids.has(o.morId));
  return e.proformaInvoiceId ?? known?.morId ?? null;
}

export function applyIssuance(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const morId = proformaId(s, e);
  if (morId === null) return { state: s, verdict: done('names no proforma invoice of ours') };
  const o = objectOf(s, 'proforma', morId, ctx);
  const failed = e.kind === 'proforma_invoice.issuance_failed';
  const status = further(o.status === 'UNKNOWN' ? 'REQUESTED' : o.status, failed ? 'ISSUANCE_FAILED' : 'ISSUED');
  const number = o.number ?? wordNamed(e.data, 'number');
  if (!failed) {
    const row: MorObjectRow = { ...o, status, number, updatedAt: ctx.now };
    return { state: putObject(s, row), verdict: done(`proforma invoice ${number ?? morId} is ${status}`) };
  }
  const inside = isJsonObject(e.data['issuanceFailure']) ? e.data['issuanceFailure'] : e.data;
  const failure = {
    code: wordNamed(inside, 'code'),
    message: textNamed(inside, 'message', 'reason'),
    failedAt: timeNamed(inside, 'failedAt')?.toISOString() ?? null,
  };
  const row: MorObjectRow = { ...o, status, number, detail: { ...o.detail, failure }, updatedAt: ctx.now };
  const why = failure.message ?? failure.code ?? 'no reason given';
  return { state: putObject(s, row), verdict: done(`proforma invoice ${number ?? morId} was not issued: ${why}`) };
}

/** Document 2, `proforma_invoice.settled`: `amountReceived` may differ from the total. Less is no full payment. */
export function applySettled(s: LaneState, e: ProformaSettled, ctx: Ctx): Applied {
  const { proformaInvoiceId: morId, total, amountReceived: received } = e;
  const o = objectOf(s, 'proforma', morId, ctx);
  const status = further(o.status === 'UNKNOWN' ? 'REQUESTED' : o.status, 'SETTLED');
  const named: MorObjectRow = { ...o, status, amount: total.minor, currency: total.currency, updatedAt: ctx.now };
  const short = received.currency === total.currency && received.minor < total.minor;
  const taken = takeMoney(s, named, received, { at: e.settledAt, eventId: e.eventId, parked: short }, ctx);
  if (taken.payment === null || !short) return { state: taken.state, verdict: done(taken.said) };
  const missing = showMoney({ minor: total.minor - received.minor, currency: total.currency });
  const state = openReview(taken.state, ctx, {
    kind: 'partial_transfer',
    subject: taken.payment.id,
    paymentRowId: taken.payment.id,
    summary: `${showMoney(received)} of ${showMoney(total)} came by bank transfer for proforma invoice ${named.number ?? morId}; ${missing} is missing`,
    proposal: "Apply it as a part payment and collect the rest, or dismiss this and refund it in the MoR's portal.",
  });
  return { state, verdict: done(`${showMoney(received)} came, ${missing} is missing: the invoice is left open`) };
}

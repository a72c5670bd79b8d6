// Takes in an event of the MoR's other channels that belongs to this invoice: bank transfers, links, e-invoices, disputes, alerts.
import { idsIn, type MorServiceEvent, type ProformaSettled } from '../../domain/events/mor-service-event.js';
import { isJsonObject } from '../../domain/events/json-body.js';
import { type Money, showMoney } from '../../domain/money.js';
import { type LaneState, type PaymentOrigin, type PaymentRow } from '../../domain/model.js';
import { type MorObjectKind, type MorObjectRow, newMorObject } from '../../domain/mor-object.js';
import { type Applied, type ChannelEvent, type Verdict } from '../../domain/lane/event.js';
import { newPayment } from '../../domain/lane/payment.js';
import { type Ctx, messageKey, note, openReview, putObject, putPayment } from '../../domain/lane/change.js';
import { collect } from '../../ledger/rules/one-charge.js';
import {
  amountIn,
  dashboardIn,
  deadlineIn,
  type DisputeOutcome,
  idNamed,
  outcomeIn,
  refundedIn,
  textNamed,
  timeNamed,
} from './channel-fields.js';
import { ensureInvoice } from '../../domain/lane/facts.js';
import { DISPUTE_NAMES_MOST } from '../../policy.js';

const done = (reason: string): Verdict => ({ status: 'done', reason });

/** Records one event. Pure; it may come twice, late, or before the answer to the call that made its object. */
export function applyChannelEvent(s: LaneState, e: ChannelEvent, ctx: Ctx): Applied {
  const { state, verdict } = apply(ensureInvoice(s, ctx).state, e.event, ctx);
  const text = verdict.reason === null ? e.type : `${e.type}: ${verdict.reason}`;
  return { verdict, state: note(state, ctx, 'event', text, e.eventId) };
}

function apply(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  switch (e.kind) {
    case 'proforma_invoice.issued':
    case 'proforma_invoice.issuance_failed':
      return applyIssuance(s, e, ctx);
    case 'proforma_invoice.settled':
      return applySettled(s, e, ctx);
    case 'payment.captured':
      return applyCaptured(s, e, ctx);
    case 'e_invoice.issued':
    case 'e_invoice.issuance_failed':
    case 'e_invoice.cancelled':
      return applyEInvoice(s, e, e.kind, ctx);
    case 'dispute.action_needed':
    case 'dispute.revision_requested':
    case 'dispute.outcome':
      return applyDispute(s, e, ctx);
    case 'pre_chargeback_alert.received':
    case 'pre_chargeback_alert.outcome':
      return applyAlert(s, e, ctx);
  }
}

// How far along a proforma invoice is: news that come late do not turn it back. States the document shows no moves for come last.
const PROFORMA_ORDER = ['REQUESTED', 'PENDING_TAX_TRANSACTION', 'ISSUED', 'ISSUANCE_FAILED', 'SETTLED'];

function further(before: string, now: string): string {
  const rank = (status: string): number => {
    const at = PROFORMA_ORDER.indexOf(status);
    return at < 0 ? PROFORMA_ORDER.length : at;
  };
  return rank(now) > rank(before) ? now : before;
}

/** The object of a kind by the MoR's id; one that is made when it was heard of before, or instead of, its answer. */
function objectOf(s: LaneState, kind: MorObjectKind, morId: string, ctx: Ctx): MorObjectRow {
  const known = s.objects.find((o) => o.kind === kind && o.morId === morId);
  if (known !== undefined) return known;
  // The answer to our own request may still be under way: only one of it can be.
  const awaited = kind === 'proforma' ? s.objects.find((o) => o.kind === kind && o.status === 'REQUESTED') : undefined;
  if (awaited !== undefined && awaited.morId === null) return { ...awaited, morId };
  return newMorObject(ctx.now, { id: ctx.newId('obj'), kind, morId, invoiceId: s.lane, status: 'UNKNOWN' });
}

function proformaId(s: LaneState, e: MorServiceEvent): string | null {
  const ids = new Set(idsIn(e.data));
  const known = s.objects.find((o) => o.kind === 'proforma' && o.morId !== null && ids.has(o.morId));
  return e.proformaInvoiceId ?? known?.morId ?? null;
}

function applyIssuance(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const morId = proformaId(s, e);
  if (morId === null) return { state: s, verdict: done('names no proforma invoice that is known here') };
  const o = objectOf(s, 'proforma', morId, ctx);
  const failed = e.kind === 'proforma_invoice.issuance_failed';
  const status = further(o.status === 'UNKNOWN' ? 'REQUESTED' : o.status, failed ? 'ISSUANCE_FAILED' : 'ISSUED');
  const number = o.number ?? textNamed(e.data, 'number');
  if (!failed) {
    const row: MorObjectRow = { ...o, status, number, updatedAt: ctx.now };
    return { state: putObject(s, row), verdict: done(`proforma invoice ${number ?? morId} is ${status}`) };
  }
  const inside = isJsonObject(e.data['issuanceFailure']) ? e.data['issuanceFailure'] : e.data;
  const failure = {
    code: textNamed(inside, 'code'),
    message: textNamed(inside, 'message', 'reason'),
    failedAt: timeNamed(inside, 'failedAt')?.toISOString() ?? null,
  };
  const row: MorObjectRow = { ...o, status, number, detail: { ...o.detail, failure }, updatedAt: ctx.now };
  const why = failure.message ?? failure.code ?? 'no reason given';
  return { state: putObject(s, row), verdict: done(`proforma invoice ${number ?? morId} was not issued: ${why}`) };
}

/** Document 2, `proforma_invoice.settled`: `amountReceived` may differ from the total. Less is no full payment. */
function applySettled(s: LaneState, e: ProformaSettled, ctx: Ctx): Applied {
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
    proposal: "Apply it as a part payment and collect the rest, or dismiss this and give it back in the MoR's portal.",
  });
  return { state, verdict: done(`${showMoney(received)} came, ${missing} is missing: the invoice is left open`) };
}

/**
 * Records the money that an object brought as a payment, once for good: by the object's id. `parked`: a person decides first.
 * `payment` null: it was recorded before.
 */
export function takeMoney(
  s: LaneState,
  o: MorObjectRow,
  received: Money,
  how: { readonly at: Date; readonly eventId: string | null; readonly parked: boolean },
  ctx: Ctx,
): { readonly state: LaneState; readonly payment: PaymentRow | null; readonly said: string } {
  const origin: PaymentOrigin = o.kind === 'proforma' ? 'proforma' : 'payment_link';
  const chargeId = o.detail.pspReference ?? null;
  // Its own payment.* event, where the MoR sends one, may have come first: one charge is one payment in either order.
  const known =
    s.payments.find((p) => p.origin === origin && p.reference === o.morId) ??
    s.payments.find((p) => chargeId !== null && p.processorChargeId === chargeId && p.succeededAt !== null);
  if (known !== undefined) {
    const state = putObject(s, { ...o, paymentRowId: known.id });
    if (known.amount === received.minor && known.currency === received.currency)
      return { state, payment: null, said: 'this payment is already recorded' };
    const was = known.amount === null ? 'nothing' : showMoney({ minor: known.amount, currency: known.currency });
    const reviewed = openReview(state, ctx, {
      kind: 'conflicting_event',
      subject: how.eventId ?? o.id,
      paymentRowId: known.id,
      summary: `${showMoney(received)} is announced for ${o.morId ?? o.id}; recorded was ${was}`,
      proposal: 'Ask the MoR which is right. What was recorded first stays in force.',
    });
    return { state: reviewed, payment: null, said: 'differs from what is recorded: not applied' };
  }
  const payment = newPayment(ctx, {
    invoiceId: s.lane,
    customerId: s.invoice?.customerId ?? '', // settle.ts names the invoice's own customer once it is known
    currency: received.currency,
    amount: received.minor,
    origin,
    reference: o.morId,
    succeededAt: how.at,
    processorChargeId: chargeId,
    mark: how.parked ? 'parked' : 'waiting',
  });
  const booked = collect(putPayment(s, payment), payment, received.minor, ctx, how.eventId);
  const what = origin === 'proforma' ? 'by bank transfer for proforma invoice' : 'on payment link';
  return {
    state: putObject(booked, { ...o, paymentRowId: payment.id }),
    payment,
    said: `${showMoney(received)} came ${what} ${o.number ?? o.morId ?? ''}`,
  };
}

/** The payment that these ids name; else the only one that was taken; null when nobody can say. */
function paymentNamed(s: LaneState, ids: ReadonlySet<string>): PaymentRow | null {
  const refund = s.refunds.find((r) => has(ids, r.morRefundId) || has(ids, r.processorRefundId) || has(ids, r.id));
  const object = s.objects.find((o) => has(ids, o.morId) && o.paymentRowId !== null);
  const of = s.payments.find(
    (p) =>
      has(ids, p.paymentId) ||
      has(ids, p.id) ||
      has(ids, p.processorChargeId) ||
      has(ids, p.processorPaymentIntentId) ||
      p.id === refund?.paymentRowId ||
      p.id === object?.paymentRowId,
  );
  const takenOnes = s.payments.filter((p) => p.succeededAt !== null);
  return of ?? (takenOnes.length === 1 ? (takenOnes[0] ?? null) : null);
}

function has(ids: ReadonlySet<string>, id: string | null): boolean {
  return id !== null && ids.has(id);
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * `payment.captured`: on a link of ours the link is read to confirm it. A card payment is recorded by its own event
 * of Document 3; here only the MoR's uuid of it is kept.
 */
function applyCaptured(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const ids = new Set(idsIn(e.data));
  const link = s.objects.find(
    (o) => o.kind === 'payment_link' && (has(ids, o.morId) || ids.has(messageKey('create_payment_link', o.id, 1))),
  );
  const pspReference = idNamed(e.data, 'pspReference', 'processorChargeId', 'chargeId', 'psp_reference');
  if (link !== undefined) {
    const at = timeNamed(e.data, 'capturedAt') ?? e.createdAt ?? ctx.now;
    const { capturedAt = at.toISOString(), pspReference: before = null } = link.detail;
    const detail = { ...link.detail, capturedAt, pspReference: pspReference ?? before };
    const known = s.payments.find((p) => p.origin === 'payment_link' && p.reference === link.morId);
    const row: MorObjectRow = {
      ...link,
      detail,
      readDueAt: known === undefined ? ctx.now : link.readDueAt,
      readAttempts: 0,
    };
    let state = capture(putObject(s, row), e, link.paymentRowId, ctx);
    // A read may have shown the payment first: its refund is found by the charge that only this event names.
    if (known?.processorChargeId === null)
      state = putPayment(state, { ...known, processorChargeId: detail.pspReference });
    return {
      state,
      verdict: done(
        known !== undefined ? 'the payment on this link is already recorded' : 'the link is read to confirm it',
      ),
    };
  }
  const payment = paymentNamed(s, ids);
  return {
    state: capture(s, e, payment?.id ?? null, ctx),
    verdict: done('a card payment: its own payment.* event counts'),
  };
}

function capture(s: LaneState, e: MorServiceEvent, paymentRowId: string | null, ctx: Ctx): LaneState {
  const morId = idNamed(e.data, 'paymentId', 'payment_id');
  if (morId === null || !UUID.test(morId)) return s;
  const o = objectOf(s, 'capture', morId, ctx);
  if (o.status === 'CAPTURED' && o.paymentRowId === paymentRowId) return s;
  return putObject(s, { ...o, status: 'CAPTURED', paymentRowId, updatedAt: ctx.now });
}

const E_INVOICE_STATUS = {
  'e_invoice.issued': 'ISSUED',
  'e_invoice.issuance_failed': 'FAILED',
  'e_invoice.cancelled': 'CANCELLED',
} as const;

function applyEInvoice(s: LaneState, e: MorServiceEvent, kind: keyof typeof E_INVOICE_STATUS, ctx: Ctx): Applied {
  const ids = idsIn(e.data);
  const morId = e.eInvoiceId ?? idNamed(e.data, 'eInvoiceId', 'e_invoice_id');
  if (morId === null) return { state: s, verdict: done('names no e-invoice') };
  const o = objectOf(s, 'e_invoice', morId, ctx);
  // Issued comes before failed or cancelled, whatever the order of arrival.
  const status = o.status === 'FAILED' || o.status === 'CANCELLED' ? o.status : E_INVOICE_STATUS[kind];
  const of = s.objects.find((x) => x.morId !== null && x.id !== o.id && ids.includes(x.morId));
  const reason = kind === 'e_invoice.issuance_failed' ? textNamed(e.data, 'reason', 'message') : null;
  const row: MorObjectRow = {
    ...o,
    status,
    paymentRowId: o.paymentRowId ?? of?.paymentRowId ?? null,
    detail: {
      ...o.detail,
      madeFor: o.detail.madeFor ?? of?.morId ?? null,
      ...(reason === null ? {} : { failure: { code: null, message: reason, failedAt: null } }),
    },
    updatedAt: ctx.now,
  };
  const why = reason === null ? '' : `: ${reason}`;
  return { state: putObject(s, row), verdict: done(`e-invoice ${morId} is ${status}${why}`) };
}

/** What an event about a dispute or an alert is about: its own id, else the payment it names, else the event. */
function entityOf(
  s: LaneState,
  e: MorServiceEvent,
  kind: 'dispute' | 'alert',
  payment: PaymentRow | null,
  ...names: string[]
): string {
  const named = idNamed(e.data, ...names);
  if (named !== null) return named;
  const inside = e.data['dispute'] ?? e.data['alert'];
  const within = isJsonObject(inside) ? idNamed(inside, 'id') : null;
  const own = typeof e.data['id'] === 'string' ? idNamed({ id: e.data['id'] }, 'id') : null;
  if (within !== null || own !== null) return within ?? own ?? e.eventId;
  if (payment === null) return e.eventId;
  // By our id of its payment, where that had no other when it was heard of first.
  const known = s.objects.some((o) => o.kind === kind && o.morId === payment.id);
  return known ? payment.id : (payment.paymentId ?? payment.id);
}

const DECIDED = new Set(['won', 'lost', 'decided']);

/** Of two outcomes the later one counts, in whatever order they came; words that are not understood overrule none that were. */
function overrules(o: MorObjectRow, outcome: DisputeOutcome, at: Date): boolean {
  if (o.status !== 'won' && o.status !== 'lost') return true;
  if (outcome === 'decided') return false;
  const before = o.detail.outcomeAt === undefined ? -Infinity : new Date(o.detail.outcomeAt).getTime();
  // Of the same moment: a loss comes before it is taken back.
  return at.getTime() > before || (at.getTime() === before && outcome === 'won');
}

function applyDispute(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const payment = paymentNamed(s, new Set(idsIn(e.data)));
  const morId = entityOf(s, e, 'dispute', payment, 'disputeId', 'dispute_id');
  const o = objectOf(s, 'dispute', morId, ctx);
  const at = e.createdAt ?? ctx.now;
  const base = withPayment(o, payment, e, ctx);
  if (e.kind === 'dispute.outcome') {
    const { outcome, said } = outcomeIn(e.data);
    if (!overrules(o, outcome, at))
      return {
        state: putObject(s, base),
        verdict: done(`dispute ${morId} is ${o.status}: this outcome changes nothing`),
      };
    const detail = { ...base.detail, outcome: said, outcomeAt: at.toISOString() };
    const row = { ...base, status: outcome, detail };
    return { state: putObject(s, row), verdict: done(`dispute ${morId} is decided: ${said ?? 'no outcome given'}`) };
  }
  const stage = e.kind === 'dispute.action_needed' ? 'action_needed' : 'revision_requested';
  const stale = o.detail.saidAt !== undefined && new Date(o.detail.saidAt).getTime() > at.getTime();
  if (DECIDED.has(o.status) || (stale && o.status !== 'UNKNOWN')) {
    return { state: putObject(s, base), verdict: done(`late: dispute ${morId} is ${o.status}`) };
  }
  const deadline = deadlineIn(e.data) ?? o.deadline;
  const reviewerNote = textNamed(e.data, 'reviewerNote', 'note', 'reviewNote') ?? o.detail.reviewerNote ?? null;
  const row: MorObjectRow = {
    ...base,
    status: stage,
    deadline,
    detail: { ...base.detail, reviewerNote, saidAt: at.toISOString() },
  };
  const until = deadline === null ? 'no deadline given' : `until ${deadline.toISOString()}`;
  return { state: putObject(s, row), verdict: done(`dispute ${morId}, ${until}; the invoice stays as it is`) };
}

const PAYMENT_NAMES = [
  ...['paymentId', 'paymentReference', 'payment', 'pspReference', 'processorChargeId', 'chargeId', 'charge'],
  ...['processorPaymentIntentId', 'paymentIntentId', 'paymentIntent'],
] as const;

function withPayment(o: MorObjectRow, payment: PaymentRow | null, e: MorServiceEvent, ctx: Ctx): MorObjectRow {
  const at = (e.createdAt ?? ctx.now).toISOString();
  const named = PAYMENT_NAMES.flatMap((name) => idNamed(e.data, name) ?? []);
  const names = [...new Set([...(o.detail.names ?? []), ...named])].sort().slice(0, DISPUTE_NAMES_MOST);
  const row: MorObjectRow = {
    ...o,
    paymentRowId: o.paymentRowId ?? payment?.id ?? null,
    url: dashboardIn(e.data) ?? o.url,
    detail: { ...o.detail, names },
    updatedAt: ctx.now,
  };
  // The amount that was said last counts, in whatever order it came.
  const amount = amountIn(e.data);
  const { amountAt = '' } = o.detail;
  if (amount === null || at < amountAt || (at === amountAt && amount.minor < (o.amount ?? 0n))) return row;
  return { ...row, amount: amount.minor, currency: amount.currency, detail: { ...row.detail, amountAt: at } };
}

function applyAlert(s: LaneState, e: MorServiceEvent, ctx: Ctx): Applied {
  const payment = paymentNamed(s, new Set(idsIn(e.data)));
  const morId = entityOf(s, e, 'alert', payment, 'alertId', 'alert_id', 'preChargebackAlertId');
  const o = objectOf(s, 'alert', morId, ctx);
  const base = withPayment(o, payment, e, ctx);
  if (e.kind === 'pre_chargeback_alert.outcome') {
    const refunded = refundedIn(e.data);
    const row: MorObjectRow = { ...base, status: 'handled', detail: { ...base.detail, refunded } };
    const what = refunded === true ? 'the payment is given back' : refunded === false ? 'not given back' : 'handled';
    return { state: putObject(s, row), verdict: done(`alert ${morId}: ${what}`) };
  }
  const status = o.status === 'handled' ? o.status : 'received';
  const row: MorObjectRow = { ...base, status, deadline: deadlineIn(e.data) ?? o.deadline };
  return { state: putObject(s, row), verdict: done(`alert ${morId}; the invoice stays as it is`) };
}

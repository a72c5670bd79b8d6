// Takes in what the MoR answered about a proforma invoice or a payment link: to its creation, or to a read.
import { decimalFromMinor, type Money, showMoney } from '../../domain/money.js';
import { type LaneState, type OutboxRow } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type CallFailure, type CallOutcome } from '../../domain/ports/call.js';
import { type LinkFacts, type ObjectFacts, type ProformaFacts } from '../../domain/ports/mor-channels.js';
import { takeMoney } from './channel-event.js';
import { type Ctx, note, openReview, putObject, retryAt } from '../../domain/lane/change.js';
import { type ChannelAnswer } from '../../domain/lane/answer.js';
import { LINK_CONFIRM_TRIES } from '../../policy.js';

/** Our request was answered. Its message's subject is our id of the object. */
export function applyChannelAnswer(s: LaneState, m: OutboxRow, a: ChannelAnswer, ctx: Ctx): LaneState {
  const o = s.objects.find((x) => x.id === m.subject);
  if (o === undefined) return s;
  if (a.kind === 'create_payment_link') return takeLink(s, { ...o, morId: a.link.morId }, a.link, ctx);
  if (a.made.kind === 'made') {
    const { proforma } = a.made;
    const twin = twinOf(s, o, proforma.morId);
    if (twin !== undefined) return replaced(s, o, twin, ctx);
    return putObject(s, takeProforma({ ...o, morId: proforma.morId }, proforma, ctx, true));
  }
  // Document 2: a live proforma invoice holds the reference; we go on with that one, whatever it says now.
  const { morId } = a.made;
  const twin = twinOf(s, o, morId);
  const said = `the MoR has proforma invoice ${morId} for this invoice already: it is taken over`;
  const state = note(s, ctx, 'decision', said, o.id);
  if (twin !== undefined) return replaced(state, o, twin, ctx);
  return putObject(state, { ...o, morId, readDueAt: ctx.now, readAttempts: 0, updatedAt: ctx.now });
}

function twinOf(s: LaneState, o: MorObjectRow, morId: string): MorObjectRow | undefined {
  return s.objects.find((x) => x.id !== o.id && x.kind === o.kind && x.morId === morId);
}

/** The MoR gave us an object that another row of ours has: that row is read afresh and counts. */
function replaced(s: LaneState, o: MorObjectRow, twin: MorObjectRow, ctx: Ctx): LaneState {
  const gone: MorObjectRow = { ...o, status: 'REPLACED', detail: { ...o.detail, replacedBy: twin.id } };
  const due: MorObjectRow = { ...twin, readDueAt: ctx.now, readAttempts: 0 };
  return putObject(putObject(s, { ...gone, updatedAt: ctx.now }), due);
}

/** Nobody answered our request; it is tried again by itself. The caller need not wait for that. */
export function applyChannelSilence(s: LaneState, m: OutboxRow, ctx: Ctx): LaneState {
  const o = s.objects.find((x) => x.id === m.subject);
  if (o === undefined || o.status !== 'REQUESTED') return s;
  return putObject(s, { ...o, detail: { ...o.detail, unanswered: true }, updatedAt: ctx.now });
}

/** Our request was refused for good; the caller is told, and the invoice shows it. */
export function applyChannelRefusal(s: LaneState, m: OutboxRow, f: CallFailure, ctx: Ctx): LaneState {
  const o = s.objects.find((x) => x.id === m.subject);
  if (o === undefined || o.morId !== null) return s;
  const { status, code, message, errors } = f;
  const detail = { ...o.detail, refusal: { status, code, message, errors } };
  return putObject(s, { ...o, status: 'REFUSED', detail, updatedAt: ctx.now });
}

/** A read of an object came back, or did not. Null: the MoR does not know it any more. */
export function applyObjectRead(
  s: LaneState,
  objectId: string,
  outcome: CallOutcome<ObjectFacts | null>,
  ctx: Ctx,
): LaneState {
  const o = s.objects.find((x) => x.id === objectId);
  if (o === undefined) return s;
  const readAttempts = o.readAttempts + 1;
  if (!outcome.ok) {
    if (o.readDueAt === null) return s;
    const slow = outcome.kind === 'stopped' || outcome.kind === 'refused';
    return putObject(s, { ...o, readAttempts, readDueAt: retryAt(ctx, readAttempts, outcome.retryAfterMs, slow) });
  }
  const facts = outcome.value;
  const read: MorObjectRow = { ...o, readDueAt: null, readAttempts: 0 };
  if (facts === null) {
    if (o.status === 'DELETED') return putObject(s, read);
    const gone = putObject(s, { ...read, status: 'DELETED', updatedAt: ctx.now });
    const said = note(gone, ctx, 'call', `the MoR does not know ${nameOf(o)} any more`, o.id);
    if (o.detail.capturedAt === undefined || o.paymentRowId !== null) return said;
    return openReview(said, ctx, {
      kind: 'conflicting_event',
      subject: o.id,
      summary: `a payment on ${nameOf(o)} was announced, and the MoR does not know the link`,
      proposal: 'Ask the MoR whether the customer paid, and mark the invoice by hand if so.',
    });
  }
  if (facts.kind === 'proforma') {
    const row = takeProforma(read, facts.proforma, ctx, false);
    const state = putObject(s, row);
    return row.status === o.status ? state : note(state, ctx, 'call', `${nameOf(row)} is ${row.status}`, o.id);
  }
  const { status } = facts.link;
  const told = status === o.status ? s : note(s, ctx, 'call', `${nameOf(o)} is ${status}`, o.id);
  return takeLink(told, { ...read, readAttempts }, facts.link, ctx);
}

function nameOf(o: MorObjectRow): string {
  return `${o.kind === 'proforma' ? 'proforma invoice' : 'payment link'} ${o.number ?? o.morId ?? o.id}`;
}

/** `replay`: a create's answer, which says PENDING for ever, whatever has become of it. */
function takeProforma(o: MorObjectRow, f: ProformaFacts, ctx: Ctx, replay: boolean): MorObjectRow {
  const status = replay && o.status !== 'REQUESTED' ? o.status : f.status;
  const failure =
    f.failure === null
      ? {}
      : { failure: { ...f.failure, failedAt: f.failure.failedAt === null ? null : f.failure.failedAt.toISOString() } };
  return {
    ...o,
    status,
    number: f.number ?? o.number,
    detail: { ...o.detail, merchantReference: f.merchantReference ?? o.detail.merchantReference ?? null, ...failure },
    updatedAt: status === o.status ? o.updatedAt : ctx.now,
  };
}

function decimal(m: Money | null): string | null {
  return m === null ? null : decimalFromMinor(m.minor, m.currency);
}

/** A link as it is now. Paid: the money counts from here on. */
function takeLink(s: LaneState, o: MorObjectRow, f: LinkFacts, ctx: Ctx): LaneState {
  const row: MorObjectRow = {
    ...o,
    status: f.status,
    url: f.url,
    deadline: f.expiresAt ?? o.deadline,
    amount: f.priced?.minor ?? o.amount,
    currency: f.priced?.currency ?? o.currency,
    detail: { ...o.detail, priced: decimal(f.priced), due: decimal(f.due) },
    updatedAt: f.status === o.status ? o.updatedAt : ctx.now,
  };
  if (f.status === 'PAID') return takePaidLink(s, { ...row, readDueAt: null, readAttempts: 0 }, f, ctx);
  if (row.detail.capturedAt === undefined || row.paymentRowId !== null) {
    return putObject(s, { ...row, readDueAt: null, readAttempts: 0 });
  }
  // The event was ahead of the link, or they do not agree.
  const waiting = putObject(s, { ...row, readDueAt: retryAt(ctx, Math.max(1, row.readAttempts), null) });
  if (row.readAttempts < LINK_CONFIRM_TRIES) return waiting;
  return openReview(waiting, ctx, {
    kind: 'conflicting_event',
    subject: row.id,
    summary: `a payment on link ${row.morId ?? ''} was announced, and the link still says ${f.status}`,
    proposal:
      'Ask the MoR whether the customer paid. The link is read again; the payment is recorded once it says PAID.',
  });
}

function takePaidLink(s: LaneState, o: MorObjectRow, f: LinkFacts, ctx: Ctx): LaneState {
  const priced = f.priced ?? (o.amount === null || o.currency === null ? null : money(o.amount, o.currency));
  const left = f.due !== null && f.due.currency === priced?.currency ? f.due.minor : 0n;
  const state = putObject(s, o);
  if (priced === null || priced.minor <= left) {
    return openReview(state, ctx, {
      kind: 'conflicting_event',
      subject: o.id,
      summary: `link ${o.morId ?? ''} is paid, and the MoR does not say how much`,
      proposal: 'Ask the MoR for the amount, and mark the invoice by hand.',
    });
  }
  const received = money(priced.minor - left, priced.currency);
  const at = o.detail.capturedAt === undefined ? ctx.now : new Date(o.detail.capturedAt);
  const taken = takeMoney(state, o, received, { at, eventId: null, parked: false }, ctx);
  if (taken.payment === null) return taken.state;
  return note(taken.state, ctx, 'decision', `the link confirms it: ${showMoney(received)} was paid`, taken.payment.id);
}

function money(minor: bigint, currency: string): Money {
  return { minor, currency };
}

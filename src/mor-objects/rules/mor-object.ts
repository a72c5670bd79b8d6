// Finding the thing at the MoR, and the payment, that an event or an answer is about.
import { type LaneState, type OutboxRow, type PaymentRow } from '../../domain/model.js';
import {
  announcedAt,
  announcedOn,
  heardAt,
  type MorObjectKind,
  type MorObjectRow,
  newMorObject,
  objectName,
  onObject,
} from '../../domain/mor-object.js';
import { type ConflictFact } from '../../domain/facts/conflict.js';
import { bookedAs } from '../../engine/payment.js';
import {
  closeReviews,
  type Ctx,
  note,
  openReview,
  openReviewOf,
  putObject,
  restateReview,
} from '../../engine/change.js';
import { type Draft, type Lane } from '../../engine/draft.js';
import { type CallFailure } from '../../domain/ports/call.js';
import { showTime } from '../../domain/show-time.js';

/** The object of a kind by the MoR's id. If its event comes before its answer, or without one, the object is made here. */
export function objectOf(
  s: Pick<LaneState, 'lane' | 'objects'>,
  kind: MorObjectKind,
  morId: string,
  ctx: Ctx,
): MorObjectRow {
  const known = s.objects.find((o) => o.kind === kind && o.morId === morId);
  if (known !== undefined) return known;
  // The answer to our own request may still be under way, or the request was taken back: only one of it can be.
  const awaited = kind === 'proforma' ? s.objects.find((o) => o.kind === kind && isAwaited(o)) : undefined;
  if (awaited !== undefined) return { ...backInPlay(awaited), morId };
  return newMorObject(ctx.now, { id: ctx.newId('obj'), kind, morId, invoiceId: s.lane, status: 'UNKNOWN' });
}

/** The same on a draft: the object is a row of the lane. */
export function findOrAddObject(lane: Lane, kind: MorObjectKind, morId: string): Draft<MorObjectRow> {
  const row = objectOf(lane, kind, morId, lane.ctx);
  const known = lane.findObject(row.id);
  return known === undefined ? lane.add('objects', row) : Object.assign(known, row);
}

function isAwaited(o: MorObjectRow): boolean {
  return o.morId === null && (o.status === 'REQUESTED' || o.detail.mayStand === true);
}

/** Its request was refused, or taken back: also a link that was to be made again, of another amount, and may stand beside that. */
export function isTakenBack(o: MorObjectRow): boolean {
  return o.status === 'REFUSED' || (o.status === 'REPLACED' && o.detail.mayStand === true);
}

/** What was taken back unanswered and is there all the same. */
export function backInPlay(o: MorObjectRow): MorObjectRow {
  if (!isTakenBack(o)) return o;
  const { refusal: _refusal, mayStand: _mayStand, ...detail } = o.detail;
  return { ...o, status: 'REQUESTED', detail };
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

export function until(o: MorObjectRow): string {
  return o.deadline === null ? '(no deadline given)' : `by ${showTime(o.deadline)}`;
}

/** The MoR does not know it, for the first time or once more. Where a payment was announced on it, nothing else will tell of that. */
export function objectGone(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  if (o.status === 'PAID' && announcedAt(o) !== null) return askHowMuch(putObject(s, o), o, ctx);
  const row: MorObjectRow = o.status === 'DELETED' ? o : { ...o, status: 'DELETED', updatedAt: ctx.now };
  const kept = putObject(s, row);
  const gone = row === o ? kept : note(kept, ctx, 'call', `the MoR no longer knows ${objectName(o)}`, o.id);
  if (announcedAt(row) === null) return gone;
  return askOfMoney(gone, row, { code: 'link-gone', ...onObject(o) }, ctx);
}

/** A link that is paid, nobody knows how much. */
export function askHowMuch(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState {
  return askOfMoney(s, o, { code: 'link-paid', ...onObject(o) }, ctx);
}

/** No read will tell of the money on this link any more: a person is asked, unless its own payment event did. */
export function askOfMoney(s: LaneState, o: MorObjectRow, fact: ConflictFact, ctx: Ctx): LaneState {
  return bookedByCharge(s, o, ctx) ?? sayOfLink(s, o, fact, ctx);
}

/** The first payment on this link is in the books, by an event of its own: nobody need ask. Null: it is not. */
export function bookedByCharge(s: LaneState, o: MorObjectRow, ctx: Ctx): LaneState | null {
  const p = takenOn(s, o);
  if (p === undefined || (o.paymentRowId !== null && o.paymentRowId !== p.id)) return null;
  if (o.paymentRowId !== null) return s;
  return closeAsked(putObject(s, { ...o, paymentRowId: p.id }), o, 'its payment is in the books', ctx);
}

/** The payment in the books that an event named as this link's first. */
export function takenOn(s: LaneState, o: MorObjectRow): PaymentRow | undefined {
  const [first] = announcedOn(o);
  return first === undefined ? undefined : bookedAs(s, first);
}

/** What was asked about this link is no question any more. */
export function closeAsked(s: LaneState, o: MorObjectRow, why: string, ctx: Ctx, subject = o.id): LaneState {
  return closeReviews(s, ctx, (r) => r.kind === 'conflicting_event' && r.subject === subject, {
    by: null,
    resolution: 'cleared',
    note: why,
  });
}

/**
 * The one item about a link: one that is open says what is so now, such as whether the link is read again. One that was dismissed before the
 * MoR announced money on it comes back.
 */
export function sayOfLink(s: LaneState, o: MorObjectRow, fact: ConflictFact, ctx: Ctx, subject = o.id): LaneState {
  const open = openReviewOf(s, 'conflicting_event', subject);
  if (open !== undefined) return restateReview(s, ctx, open, { kind: 'conflicting_event', fact });
  return openReview(s, ctx, { kind: 'conflicting_event', subject, since: heardAt(o), fact });
}

// A link that has expired, and one on which money was announced and of which nothing more is heard.
import { type LaneState } from '../../domain/model.js';
import {
  announcedAt,
  heardAt,
  isPayableLink,
  isStandingLink,
  type MorObjectRow,
  onObject,
} from '../../domain/mor-object.js';
import { type Ctx, openReviewOf, putObject } from '../../engine/change.js';
import { type LookAgain, type SettleRule } from '../../engine/subject.js';
import { bookedByCharge, sayOfLink } from '../../mor-objects/rules/mor-object.js';
import { LINK_SILENT_MS } from '../../policy.js';
import { isLookedInto } from '../../engine/open-money.js';
import { nameFirst } from './settle-announced.js';

export const settleLinks: SettleRule = (s, ctx, lookAgain) =>
  s.objects.reduce((state, o) => (o.kind === 'payment_link' ? settleLink(state, o, ctx, lookAgain) : state), s);

function settleLink(s: LaneState, o: MorObjectRow, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const expired = o.status === 'PAYABLE' && !isPayableLink(o, ctx.now);
  const row: MorObjectRow = expired ? { ...o, status: 'EXPIRED', updatedAt: ctx.now } : o;
  const stands = isStandingLink(row) && isPayableLink(row, ctx.now);
  if (stands) lookAgain(row.deadline);
  const named = nameFirst(expired ? putObject(s, row) : s, row, ctx); // a caller's read may have brought its payment
  return tellUnheard(named, row, ctx, lookAgain);
}

/** Money that was announced keeps everything else from being asked (withdraw.ts): somebody must be asked about it, unless it is in the books. */
function tellUnheard(s: LaneState, o: MorObjectRow, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const announced = announcedAt(o);
  if (announced === null || (o.morId !== null && o.readDueAt !== null)) return s; // a read tells
  if (isAsked(s, o)) {
    const until = new Date((heardAt(o) ?? announced).getTime() + LINK_SILENT_MS);
    lookAgain(until);
    if (until > ctx.now) return s; // the answer to its request tells
  }
  const booked = bookedByCharge(s, o, ctx);
  if (booked !== null) return booked;
  if (openReviewOf(s, 'conflicting_event', o.id) !== undefined || isLookedInto(s.reviews, [o.id], heardAt(o))) return s;
  const why = o.morId === null ? 'not-given' : 'not-read';
  return sayOfLink(s, o, { code: 'link-unheard', ...onObject(o), why }, ctx);
}

/** Its request is not answered yet. */
function isAsked({ messages }: LaneState, { id, morId }: MorObjectRow): boolean {
  return (
    morId === null &&
    messages.some((m) => m.kind === 'create_payment_link' && m.subject === id && m.status === 'pending')
  );
}

// When a proforma invoice or a payment link is looked at without an event: a webhook may be lost for good.
import { dueDate, isLiveProforma, isStandingLink, type MorObjectRow, TRANSFERRED } from '../../domain/mor-object.js';
import {
  LINK_LAST_LOOK_AFTER_MS,
  OBJECT_FIRST_LOOK_MS,
  OBJECT_LONGEST_PAUSE_MS,
  TRANSFER_LATE_MS,
} from '../../policy.js';
import { type LaneState } from '../../domain/model.js';
import { type Ctx, putObject } from '../../engine/change.js';
import { type ErrandRule } from '../../engine/subject.js';

/**
 * The next look at an object of which nothing is announced; null: there is nothing to find out any more. The pauses grow with its
 * age from a minute to a day. A link is looked at once more when it has expired: a payment in its last minute counts.
 */
export function nextLook(o: MorObjectRow, now: Date): Date | null {
  const age = now.getTime() - o.createdAt.getTime();
  const soon = now.getTime() + Math.min(OBJECT_LONGEST_PAUSE_MS, Math.max(OBJECT_FIRST_LOOK_MS, age / 2));
  if (o.kind === 'payment_link') {
    if (!isStandingLink(o)) return null;
    const end = o.deadline === null ? Infinity : o.deadline.getTime() + LINK_LAST_LOOK_AFTER_MS;
    return new Date(end > now.getTime() ? Math.min(soon, end) : soon);
  }
  if (!isLiveProforma(o) || o.status === 'REQUESTED' || TRANSFERRED.has(o.status)) return null;
  return now.getTime() > dueDate(o).getTime() + TRANSFER_LATE_MS ? null : new Date(soon);
}

/** Webhooks may be lost for good: what can change at the MoR is looked at now and then. */
export function lookAtObjects(s: LaneState, ctx: Ctx): LaneState {
  let state = s;
  for (const o of s.objects) {
    const at = o.readDueAt === null && o.morId !== null ? nextLook(o, ctx.now) : null;
    if (at !== null) state = putObject(state, { ...o, readDueAt: at });
  }
  return state;
}

/** Webhooks may be lost for good: what can change at the MoR is read there now and then. */
export const objectErrand: ErrandRule = (s, _, due) => {
  for (const o of s.objects) {
    if (o.readDueAt === null || o.morId === null || (o.kind !== 'proforma' && o.kind !== 'payment_link')) continue;
    if (due(o.readDueAt)) return { do: 'read-object', objectId: o.id, kind: o.kind, morId: o.morId };
  }
  return null;
};

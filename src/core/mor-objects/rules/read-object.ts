// Reads an object at the MoR, plans its reads, and records the MoR's reply.
import { type ObjectFacts } from '../../../shared/domain/ports/mor-channels.js';
import { type CallOutcome, mayPass, codesOf } from '../../../shared/domain/ports/call.js';
import { type Lookup } from '../../../engine/lookup.js';
import { type Lane } from '../../../engine/lane.js';
import { type Mutable } from '../../../shared/domain/row.js';
import {
  type MorObjectRow,
  objectName,
  isPayableLink,
  announcedAt,
  isOpenLink,
  isLiveProforma,
  TRANSFERRED,
  dueDate,
} from '../../../shared/domain/mor-object.js';
import { retryAt } from '../../../engine/context.js';
import {
  LINK_CONFIRM_TRIES,
  OBJECT_LONGEST_PAUSE_MS,
  OBJECT_FIRST_POLL_MS,
  LINK_LAST_POLL_AFTER_MS,
  TRANSFER_LATE_MS,
} from '../../../shared/policy.js';
import { isOpenAbout } from '../../books/rules/open-money.js';

type Kind = 'proforma' | 'payment_link';
type FactsOf<K extends Kind> = Extract<ObjectFacts, { readonly kind: K }>;
type Question = { readonly objectId: string; readonly morId: string };
/** The result of a read. Null: the MoR does not know the object. */
export type ObjectRead = CallOutcome<ObjectFacts | null>;
export type ObjectLookup = Lookup<Question, ObjectRead> & { readonly kind: Kind };

/** Makes the lookup for objects of one kind. `apply` records the MoR's facts after the read. */
export function objectLookup<K extends Kind>(
  kind: K,
  apply: (lane: Lane, object: Mutable<MorObjectRow>, facts: FactsOf<K>) => void,
): ObjectLookup {
  const isOfKind = (facts: ObjectFacts): facts is FactsOf<K> => facts.kind === kind;
  return {
    name: 'read-object',
    kind,
    wanted: (lane) => {
      for (const { id: objectId, kind: of, morId, readDueAt } of lane.objects)
        if (of === kind && morId !== null && lane.isPast(readDueAt)) return { objectId, morId };
      return null;
    },
    ask: ({ morId }, { channels }) => channels.read(kind, morId),
    apply: (lane, outcome, { objectId }) => {
      const o = lane.findObject(objectId);
      const facts = o === undefined ? null : applyRead(lane, o, outcome);
      if (o === undefined || facts === null) return;
      const { status } = facts.kind === 'proforma' ? facts.proforma : facts.link;
      if (!isOfKind(facts)) return;
      if (status !== o.status) lane.log('call', `${objectName(o)} is ${status.replaceAll('_', ' ')}`, o);
      apply(lane, o, facts);
    },
  };
}

/** Counts the read. Returns the MoR's facts about the object. Null: the read failed, or the object is gone. */
function applyRead(lane: Lane, object: Mutable<MorObjectRow>, outcome: ObjectRead): ObjectFacts | null {
  // A read before its due time, for a caller of the API, does not count as a try.
  const isEarly = object.readDueAt !== null && object.readDueAt > lane.now;
  if (!outcome.ok) {
    if (object.readDueAt === null) return null;
    if (!isEarly) object.readAttempts++;
    object.readDueAt = retryAt(lane.ctx, object.readAttempts, outcome.retryAfterMs, !mayPass(outcome));
    const since = object.detail.silent?.since ?? lane.now.toISOString();
    object.detail = { ...object.detail, silent: { since, answer: codesOf(outcome), passes: mayPass(outcome) } };
    // The link's payment is booked, so after the link's end nobody needs another read.
    if (object.kind === 'payment_link' && object.paymentRowId !== null && !isPayableLink(object, lane.now))
      object.readDueAt = null;
    return null;
  }
  if (!isEarly) object.readAttempts++;
  if (outcome.value === null) {
    applyGone(lane, object, isEarly);
    return null;
  }
  const { silent: _silent, ...detail } = object.detail;
  object.detail = detail;
  if (!isEarly) object.readDueAt = null;
  return outcome.value;
}

function applyGone(lane: Lane, object: Mutable<MorObjectRow>, isEarly: boolean): void {
  const { silent, ...detail } = object.detail;
  // The MoR announced a payment on the link, but may not show the link yet. So read again a few times.
  if (announcedAt(object) !== null && object.readAttempts < LINK_CONFIRM_TRIES) {
    object.detail = detail;
    if (!isEarly) object.readDueAt = retryAt(lane.ctx, object.readAttempts, null);
    return;
  }
  // An open item about an unreadable link keeps its facts.
  const isAsked = lane.reviews.some((r) => isOpenAbout(r, 'link-unread') && r.subject === object.id);
  object.detail = isAsked && silent !== undefined ? { ...detail, silent } : detail;
  object.readDueAt = null;
  object.readAttempts = 0;
  if (object.status === 'DELETED' || (object.status === 'PAID' && object.paymentRowId === null)) return;
  object.status = 'DELETED';
  object.updatedAt = lane.now;
  lane.log('call', `the MoR no longer knows ${objectName(object)}`, object);
}

/** Plans reads of the objects that may change at the MoR, because a webhook may be lost for good. */
export function pollObjects(lane: Lane): void {
  for (const o of lane.objects) if (o.readDueAt === null && o.morId !== null) o.readDueAt = nextPoll(o, lane.now);
}

/**
 * The time of the next read of an object without an announced payment. Null: no read is needed. The pauses grow with
 * the object's age from a minute to a day. A link gets one more read after its end, for a payment just before the end.
 */
export function nextPoll(object: MorObjectRow, now: Date): Date | null {
  const age = now.getTime() - object.createdAt.getTime();
  const soon = now.getTime() + Math.min(OBJECT_LONGEST_PAUSE_MS, Math.max(OBJECT_FIRST_POLL_MS, age / 2));
  if (object.kind === 'payment_link') {
    if (!isOpenLink(object)) return null;
    const end = object.deadline === null ? Infinity : object.deadline.getTime() + LINK_LAST_POLL_AFTER_MS;
    return new Date(end > now.getTime() ? Math.min(soon, end) : soon);
  }
  if (!isLiveProforma(object) || object.status === 'REQUESTED' || TRANSFERRED.has(object.status)) return null;
  return now.getTime() > dueDate(object).getTime() + TRANSFER_LATE_MS ? null : new Date(soon);
}

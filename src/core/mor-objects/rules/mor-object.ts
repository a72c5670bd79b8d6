// Finds an object at the MoR by its id, such as a proforma invoice or a payment link, or adds it.
import { type Lane } from '../../../engine/lane.js';
import { type MorObjectKind, type MorObjectRow, newMorObject } from '../../../shared/domain/mor-object.js';
import { type Mutable } from '../../../shared/domain/row.js';

/**
 * Finds an object by kind and the MoR's id. Adds the object if an event names it before the reply to our request, or if
 * Crossbill never requested the object.
 */
export function findOrAddObject(lane: Lane, kind: MorObjectKind, morId: string): Mutable<MorObjectRow> {
  const known = lane.objects.find((o) => o.kind === kind && o.morId === morId);
  if (known !== undefined) return known;
  // If Crossbill's request for a proforma invoice has no reply yet, or if Crossbill withdrew the request, the event can
  // only be about the object of this request.
  const awaited = kind === 'proforma' ? lane.objects.find((o) => o.kind === kind && isAwaited(o)) : undefined;
  if (awaited !== undefined) {
    putBack(awaited);
    awaited.morId = morId;
    return awaited;
  }
  const id = lane.ctx.newId('obj');
  return lane.add('objects', newMorObject(lane.now, { id, kind, morId, invoiceId: lane.lane, status: 'UNKNOWN' }));
}

function isAwaited(object: MorObjectRow): boolean {
  return object.morId === null && (object.status === 'REQUESTED' || object.detail.mayStand === true);
}

/**
 * True if the MoR refused the request for the object, or Crossbill withdrew the request. Also true for `REPLACED` with
 * `mayStand`: Crossbill requests a new link instead, but the MoR may have made the first link.
 */
export function isTakenBack(object: MorObjectRow): boolean {
  return object.status === 'REFUSED' || (object.status === 'REPLACED' && object.detail.mayStand === true);
}

/** Restores an object after Crossbill withdrew the request for it: the MoR has made the object after all. */
export function putBack(object: Mutable<MorObjectRow>): void {
  if (!isTakenBack(object)) return;
  const { refusal: _refusal, mayStand: _mayStand, ...detail } = object.detail;
  Object.assign(object, { status: 'REQUESTED', detail });
}

// What the MoR replied about a proforma invoice: to its creation, or to a read.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow, objectName } from '../../domain/mor-object.js';
import { type ProformaFacts } from '../../domain/ports/mor-channels.js';
import { asCallRule } from '../../engine/call-rule.js';
import { type Ctx } from '../../engine/change.js';
import { type Draft, Lane } from '../../engine/draft.js';
import { applyChannelRefusal, applyChannelSilence } from '../../mor-objects/rules/mor-object.js';
import { requestUnwanted } from '../../mor-objects/rules/withdraw.js';

export const createProformaCall = asCallRule<'create_proforma'>({
  order: 1,
  ...requestUnwanted,
  replied: (lane, { object: o }, { made }) => {
    if (o === undefined) return;
    const isNew = made.kind === 'made';
    const morId = isNew ? made.proforma.morId : made.morId;
    // Document 2: a live proforma invoice holds the reference; we go on with that one, whatever it says now.
    if (!isNew) lane.say('decision', `the MoR has proforma invoice ${morId} for this invoice already: it is used`, o);
    const twin = lane.objects.find((x) => x.id !== o.id && x.kind === o.kind && x.morId === morId);
    if (twin !== undefined) return replace(lane, o, twin);
    o.morId = morId;
    if (isNew) {
      if (made.retryAfterMs !== null) o.readDueAt = lane.in(made.retryAfterMs);
      return takeProforma(lane, o, made.proforma, 'create');
    }
    Object.assign(o, { readDueAt: lane.now, readAttempts: 0, updatedAt: lane.now });
  },
  refused: (lane, { row }, failure) => lane.apply((s, ctx) => applyChannelRefusal(s, row, failure, ctx)),
  silent: (lane, { row }) => lane.apply((s, ctx) => applyChannelSilence(s, row, ctx)),
});

/** The MoR gave us an object that another row of ours has: Crossbill reads that row again, and it counts. */
function replace(lane: Lane, o: Draft<MorObjectRow>, twin: Draft<MorObjectRow>): void {
  o.status = 'REPLACED';
  o.detail = { ...o.detail, replacedBy: twin.id };
  o.updatedAt = lane.now;
  twin.readDueAt = lane.now;
  twin.readAttempts = 0;
}

/** A read of a proforma invoice: `o` is the row with the read taken off its list. */
export function takeProformaRead(s: LaneState, o: MorObjectRow, f: ProformaFacts, ctx: Ctx): LaneState {
  const lane = new Lane(s, ctx);
  const known = lane.findObject(o.id) ?? lane.add('objects', o);
  Object.assign(known, o, { readAttempts: 0 });
  takeProforma(lane, known, f, 'read');
  if (known.status !== o.status) lane.say('call', `${objectName(known)} is ${known.status}`, known);
  return lane.toState();
}

/** The reply to a create says PENDING for ever, whatever has become of the proforma invoice. */
export function takeProforma(
  lane: Pick<Lane, 'now'>,
  o: Draft<MorObjectRow>,
  f: ProformaFacts,
  reply: 'create' | 'read',
): void {
  const status = reply === 'create' && o.status !== 'REQUESTED' ? o.status : f.status;
  const { failure } = f;
  const failedAt = failure?.failedAt?.toISOString() ?? null;
  if (status !== o.status) o.updatedAt = lane.now;
  o.status = status;
  o.number = f.number ?? o.number;
  o.detail = {
    ...o.detail,
    merchantReference: f.merchantReference ?? o.detail.merchantReference ?? null,
    ...(failure === null ? {} : { failure: { ...failure, failedAt } }),
  };
}

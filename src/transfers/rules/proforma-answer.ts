// What the MoR answered about a proforma invoice: to its creation, or to a read.
import { type LaneState } from '../../domain/model.js';
import { type MorObjectRow } from '../../domain/mor-object.js';
import { type Ctx, note, putObject } from '../../engine/change.js';
import { type ProformaFacts } from '../../domain/ports/mor-channels.js';
import { type CallRule } from '../../engine/subject.js';
import { type AnswerTo } from '../../engine/answer.js';
import { applyChannelRefusal, applyChannelSilence, nameOf } from '../../mor-objects/rules/mor-object.js';
import { requestUnwanted } from '../../mor-objects/rules/withdraw.js';

export const createProformaCall: CallRule<AnswerTo<'create_proforma'>> = {
  order: 1,
  ...requestUnwanted,
  answered: (s, m, { made }, ctx) => {
    const o = s.objects.find((x) => x.id === m.subject);
    if (o === undefined) return s;
    if (made.kind === 'made') {
      const { proforma } = made;
      const twin = twinOf(s, o, proforma.morId);
      if (twin !== undefined) return replaced(s, o, twin, ctx);
      const first = made.retryAfterMs === null ? o.readDueAt : new Date(ctx.now.getTime() + made.retryAfterMs);
      return putObject(s, takeProforma({ ...o, morId: proforma.morId, readDueAt: first }, proforma, ctx, true));
    }
    // Document 2: a live proforma invoice holds the reference; we go on with that one, whatever it says now.
    const { morId } = made;
    const twin = twinOf(s, o, morId);
    const said = `the MoR has proforma invoice ${morId} for this invoice already: it is used`;
    const state = note(s, ctx, 'decision', said, o.id);
    if (twin !== undefined) return replaced(state, o, twin, ctx);
    return putObject(state, { ...o, morId, readDueAt: ctx.now, readAttempts: 0, updatedAt: ctx.now });
  },
  refused: applyChannelRefusal,
  silent: (s, m, _, ctx) => applyChannelSilence(s, m, ctx),
};

/** A read of a proforma invoice: `o` is the row with the read taken off its list. */
export function takeProformaRead(s: LaneState, o: MorObjectRow, f: ProformaFacts, ctx: Ctx): LaneState {
  const row = takeProforma({ ...o, readAttempts: 0 }, f, ctx, false);
  const state = putObject(s, row);
  return row.status === o.status ? state : note(state, ctx, 'call', `${nameOf(row)} is ${row.status}`, o.id);
}

export function twinOf(s: LaneState, o: MorObjectRow, morId: string): MorObjectRow | undefined {
  return s.objects.find((x) => x.id !== o.id && x.kind === o.kind && x.morId === morId);
}

/** The MoR gave us an object that another row of ours has: that row is read afresh and counts. */
export function replaced(s: LaneState, o: MorObjectRow, twin: MorObjectRow, ctx: Ctx): LaneState {
  const gone: MorObjectRow = { ...o, status: 'REPLACED', detail: { ...o.detail, replacedBy: twin.id } };
  const due: MorObjectRow = { ...twin, readDueAt: ctx.now, readAttempts: 0 };
  return putObject(putObject(s, { ...gone, updatedAt: ctx.now }), due);
}

/** `replay`: a create's answer, which says PENDING for ever, whatever has become of it. */
export function takeProforma(o: MorObjectRow, f: ProformaFacts, ctx: Ctx, replay: boolean): MorObjectRow {
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

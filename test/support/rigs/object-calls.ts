// Reads of objects at the MoR and requests to create them, on a lane as a value.
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type Ctx } from '../../../src/engine/context.js';
import { linkLookup } from '../../../src/features/links/rules/link.js';
import { type ObjectRead } from '../../../src/core/mor-objects/rules/read-object.js';
import { type ObjectRequest, requestObject as request } from '../../../src/core/mor-objects/rules/request.js';
import { proformaLookup } from '../../../src/features/transfers/rules/proforma.js';
import { asCommand, decide } from './decide.js';

/** Applies the MoR's reply to a read of the object. */
export function applyObjectRead(state: LaneState, objectId: string, outcome: ObjectRead, ctx: Ctx): LaneState {
  const o = state.objects.find((x) => x.id === objectId);
  const { apply: take } = o?.kind === 'proforma' ? proformaLookup : linkLookup;
  return decide(state, ctx, (lane) => take(lane, outcome, { objectId, morId: o?.morId ?? '' }));
}

/** Somebody requests an object. */
export const requestObject = (state: LaneState, req: ObjectRequest, ctx: Ctx) =>
  asCommand((lane): ReturnType<typeof request> => request(lane, req))(state, ctx);

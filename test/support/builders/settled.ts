// A lane at rest and its next lookup, for tests of decisions.
import { SUBJECTS } from '../../../src/core/lanes/subjects.js';
import { takeBackUnwanted } from '../../../src/engine/calls.js';
import { type Ctx } from '../../../src/engine/context.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type Settled } from '../../../src/engine/settle.js';
import { decide, settle as settleLane } from '../rigs/decide.js';

/**
 * Decides as the engine does, without the earlier ledger entries (shared/domain/model.ts). The result contains all entries.
 */
export function decided(state: LaneState, decide: (state: LaneState) => LaneState): LaneState {
  const next = decide({ ...state, entries: [] });
  return { ...next, entries: [...state.entries, ...next.entries] };
}

/** The lane as `settle` leaves it. */
export function settle(state: LaneState, ctx: Ctx): LaneState {
  return decided(state, (state) => settleLane(state, ctx).state);
}

/** The lane without the calls that its rules no longer want. */
export function wanted(state: LaneState, ctx: Ctx): LaneState {
  return decide(state, ctx, (lane) => takeBackUnwanted(lane, SUBJECTS.calls));
}

/** The lane's next lookup, and when the lane is due. */
export function plan(state: LaneState, ctx: Ctx): Pick<Settled, 'dueAt' | 'request'> {
  return settleLane(state, ctx);
}

// A lane at rest and its next lookup, for tests of decisions.
import { SUBJECTS } from '../../src/core/lanes/subjects.js';
import { takeBackUnwanted } from '../../src/engine/calls.js';
import { type Ctx } from '../../src/engine/context.js';
import { type LaneState } from '../../src/shared/domain/model.js';
import { type Settled } from '../../src/engine/settle.js';
import { decide, settle as settleLane } from './decide.js';

/**
 * Decides as the engine does, without the earlier ledger entries (shared/domain/model.ts). The result contains all entries.
 */
export function decided(s: LaneState, decide: (state: LaneState) => LaneState): LaneState {
  const next = decide({ ...s, entries: [] });
  return { ...next, entries: [...s.entries, ...next.entries] };
}

/** The lane as `settle` leaves it. */
export function settle(s: LaneState, ctx: Ctx): LaneState {
  return decided(s, (state) => settleLane(state, ctx).state);
}

/** The lane without the calls that its rules no longer want. */
export function wanted(s: LaneState, ctx: Ctx): LaneState {
  return decide(s, ctx, (lane) => takeBackUnwanted(lane, SUBJECTS.calls));
}

/** The lane's next lookup, and when the lane is due. */
export function plan(s: LaneState, ctx: Ctx): Pick<Settled, 'dueAt' | 'request'> {
  return settleLane(s, ctx);
}

// A lane at rest, and its next need, for tests of decisions.
import { SUBJECTS } from '../../src/decisions/subjects.js';
import { takeBackUnwanted } from '../../src/engine/calls.js';
import { type Ctx } from '../../src/engine/context.js';
import { type LaneState } from '../../src/domain/model.js';
import { type Settled } from '../../src/engine/settle.js';
import { decide, settle as settleLane } from './decide.js';

/** Like a lane's decision: without its earlier entries (domain/model.ts). The result has them all. */
export function decided(s: LaneState, decide: (state: LaneState) => LaneState): LaneState {
  const next = decide({ ...s, entries: [] });
  return { ...next, entries: [...s.entries, ...next.entries] };
}

/** The lane as `settle` leaves it. */
export function settle(s: LaneState, ctx: Ctx): LaneState {
  return decided(s, (state) => settleLane(state, ctx).state);
}

/** The lane without its unwanted calls. */
export function wanted(s: LaneState, ctx: Ctx): LaneState {
  return decide(s, ctx, (lane) => takeBackUnwanted(lane, SUBJECTS.calls));
}

/** A lane's next errand, and the time of its next look. */
export function plan(s: LaneState, ctx: Ctx): Pick<Settled, 'errand' | 'dueAt'> {
  return settleLane(s, ctx);
}

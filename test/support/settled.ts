// A lane at rest, and what it needs next, for tests of decisions.
import { SUBJECTS } from '../../src/decisions/subjects.js';
import { decide } from '../../src/engine/adapter.js';
import { takeBackUnwanted } from '../../src/engine/call-rule.js';
import { type Ctx } from '../../src/engine/change.js';
import { type LaneState } from '../../src/domain/model.js';
import { type Settled } from '../../src/engine/settle.js';
import { settle as settleLane } from '../../src/decisions/decide.js';

/** As a lane decides: with none of its earlier entries in hand (domain/model.ts). What comes out has them all. */
export function decided(s: LaneState, decide: (state: LaneState) => LaneState): LaneState {
  const next = decide({ ...s, entries: [] });
  return { ...next, entries: [...s.entries, ...next.entries] };
}

/** The lane as `settle` leaves it. */
export function settle(s: LaneState, ctx: Ctx): LaneState {
  return decided(s, (state) => settleLane(state, ctx).state);
}

/** The lane without the calls that nobody wants any more. */
export function wanted(s: LaneState, ctx: Ctx): LaneState {
  return decide(s, ctx, (lane) => takeBackUnwanted(lane, SUBJECTS.calls));
}

/** The errand that a lane needs next, and when it must be looked at again. */
export function plan(s: LaneState, ctx: Ctx): Pick<Settled, 'errand' | 'dueAt'> {
  return settleLane(s, ctx);
}

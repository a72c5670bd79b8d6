// Subjects' rules work on drafts, the engine's steps on states: a rule as a function from state to state.
import { type Applied, type Verdict } from './event.js';
import { type Ctx } from './change.js';
import { type Commanded, type Result } from './commanded.js';
import { carriedOut, type ChoiceRule, type ReviewRule } from './subject.js';
import { type LaneState } from '../domain/model.js';
import { Lane, type Rule } from './draft.js';

/** Runs a rule on a state: the new state, or the same object if the rule changed nothing. */
export function decide(s: LaneState, ctx: Ctx, rule: Rule): LaneState {
  const lane = new Lane(s, ctx);
  rule(lane);
  return lane.toState();
}

/** The rule of an event, with its verdict. */
export function asEventRule<E>(take: (lane: Lane, e: E) => Verdict): (s: LaneState, e: E, ctx: Ctx) => Applied {
  return (s, e, ctx) => {
    const lane = new Lane(s, ctx);
    const verdict = take(lane, e);
    return { state: lane.toState(), verdict };
  };
}

/** A request of a person or the merchant's backend. */
export function asCommand<T>(act: (lane: Lane) => Result<T>): (s: LaneState, ctx: Ctx) => Commanded<T> {
  return (s, ctx) => {
    const lane = new Lane(s, ctx);
    const done = act(lane);
    return done.ok ? { ...done, state: lane.toState() } : done;
  };
}

/** The rule of a person's choice. */
export function asReview(choose: ChoiceRule): ReviewRule {
  return (s, r, choice, ctx) => {
    const lane = new Lane(s, ctx);
    return choose(lane, r, choice) ?? carriedOut(lane.toState());
  };
}

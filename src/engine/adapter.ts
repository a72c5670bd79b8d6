// New rules as old functions, and old functions as new rules, while the rooms convert one after the other.
import { type Applied, type Verdict } from './event.js';
import { type Ctx } from './change.js';
import { type Commanded, type Result } from './commanded.js';
import { carriedOut, type ChoiceRule, type ReviewRule, type SettleRule } from './subject.js';
import { type LaneState } from '../domain/model.js';
import { Lane, type Rule } from './draft.js';

/** Runs a rule on a state: the new state, or the same object if the rule changed nothing. */
export function decide(s: LaneState, ctx: Ctx, rule: Rule): LaneState {
  const lane = new Lane(s, ctx);
  rule(lane);
  return lane.toState();
}

/** A rule of the old kind on a draft. */
export function asRule(old: SettleRule): Rule {
  return (lane) => lane.apply((s, ctx) => old(s, ctx, (at) => lane.lookAt(at)));
}

/** The rule of an event, which returns the verdict, as a function of the old kind. */
export function asEventRule<E>(take: (lane: Lane, e: E) => Verdict): (s: LaneState, e: E, ctx: Ctx) => Applied {
  return (s, e, ctx) => {
    const lane = new Lane(s, ctx);
    const verdict = take(lane, e);
    return { state: lane.toState(), verdict };
  };
}

/** A rule of an event of the old kind on a draft. */
export function asTake<E>(old: (s: LaneState, e: E, ctx: Ctx) => Applied): (lane: Lane, e: E) => Verdict {
  return (lane, e) => lane.applyWith((s, ctx) => old(s, e, ctx)).verdict;
}

/** A request on the draft as a function of the old kind. */
export function asCommand<T>(act: (lane: Lane) => Result<T>): (s: LaneState, ctx: Ctx) => Commanded<T> {
  return (s, ctx) => {
    const lane = new Lane(s, ctx);
    const done = act(lane);
    return done.ok ? { ...done, state: lane.toState() } : done;
  };
}

/** The rule of a person's choice as a rule of the old kind. */
export function asReview(choose: ChoiceRule): ReviewRule {
  return (s, r, choice, ctx) => {
    const lane = new Lane(s, ctx);
    return choose(lane, r, choice) ?? carriedOut(lane.toState());
  };
}

// Rules on the draft as one function of a state, for tests settling a lane by some rules alone.
import { type Ctx } from '../../src/engine/context.js';
import { Lane, type LookAgain, type Rule } from '../../src/engine/draft.js';
import { takeInvoiceRead } from '../../src/engine/facts.js';
import { type LaneState, type ReviewRow } from '../../src/domain/model.js';
import { type Refusal, type Choice, type ChoiceRule } from '../../src/engine/commanded.js';
import { type Verdict } from '../../src/engine/event.js';
import { decide, type Applied } from './decide.js';

type SettleRule = (s: LaneState, ctx: Ctx, lookAgain: LookAgain) => LaneState;

/** These rules, one after the other on one draft. */
export function asSettleRule(...rules: readonly Rule[]): SettleRule {
  return (s, ctx, lookAgain) => {
    const lane = new Lane(s, ctx, lookAgain);
    for (const rule of rules) rule(lane);
    return lane.toState();
  };
}

/** A read of the invoice came back. */
export function applyRead(s: LaneState, outcome: Parameters<typeof takeInvoiceRead>[1], ctx: Ctx): LaneState {
  return decide(s, ctx, (lane) => takeInvoiceRead(lane, outcome));
}

/** An event taken in by its rule. */
export function takeEvent<E>(rule: (lane: Lane, e: E) => Verdict, s: LaneState, e: E, ctx: Ctx): Applied {
  const lane = new Lane(s, ctx);
  const verdict = rule(lane, e);
  return { state: lane.toState(), verdict };
}

/** A person's choice, carried out by its rule; the item stays open here. */
export function choose(rule: ChoiceRule, s: LaneState, r: ReviewRow, choice: Choice, ctx: Ctx): LaneState | Refusal {
  const lane = new Lane(s, ctx);
  return rule(lane, r, choice) ?? lane.toState();
}

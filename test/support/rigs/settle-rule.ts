// Runs rules on a draft as one function of a state, for tests that settle a lane with a few rules only.
import { type Ctx } from '../../../src/engine/context.js';
import { Lane, type DecideAgain, type Rule } from '../../../src/engine/lane.js';
import { applyInvoiceRead } from '../../../src/core/books/rules/invoice-facts.js';
import { type LaneState } from '../../../src/shared/domain/model.js';
import { type ReviewRow } from '../../../src/shared/domain/review-row.js';
import { type Refusal, type Choice, type ChoiceRule } from '../../../src/engine/commanded.js';
import { type EventOutcome } from '../../../src/engine/event.js';
import { decide, type Applied } from './decide.js';

type SettleRule = (state: LaneState, ctx: Ctx, decideAgain: DecideAgain) => LaneState;

/** Runs these rules one after another on one draft. */
export function asSettleRule(...rules: readonly Rule[]): SettleRule {
  return (s, ctx, decideAgain) => {
    const lane = new Lane(s, ctx, decideAgain);
    for (const rule of rules) rule(lane);
    return lane.toState();
  };
}

/** Applies a read of the invoice. */
export function applyRead(state: LaneState, outcome: Parameters<typeof applyInvoiceRead>[1], ctx: Ctx): LaneState {
  return decide(state, ctx, (lane) => applyInvoiceRead(lane, outcome));
}

/** Takes an event with its rule. */
export function applyEvent<E>(
  rule: (lane: Lane, error: E) => EventOutcome,
  state: LaneState,
  error: E,
  ctx: Ctx,
): Applied {
  const lane = new Lane(state, ctx);
  const outcome = rule(lane, error);
  return { state: lane.toState(), verdict: outcome };
}

/** Carries out a person's choice with its rule. The item stays open here. */
export function choose(
  rule: ChoiceRule,
  state: LaneState,
  item: ReviewRow,
  choice: Choice,
  ctx: Ctx,
): LaneState | Refusal {
  const lane = new Lane(state, ctx);
  return rule(lane, item, choice) ?? lane.toState();
}

// Rules on the draft as one function of a state, for tests that settle a lane by some rules alone.
import { decide } from '../../src/engine/adapter.js';
import { type Ctx } from '../../src/engine/change.js';
import { Lane, type Rule } from '../../src/engine/draft.js';
import { takeInvoiceRead } from '../../src/engine/read-invoice.js';
import { type LaneState } from '../../src/domain/model.js';
import { type SettleRule } from '../../src/engine/subject.js';

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

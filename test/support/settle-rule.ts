// Rules on the draft as one function of a state, for tests that settle a lane by some rules alone.
import { Lane, type Rule } from '../../src/engine/draft.js';
import { type SettleRule } from '../../src/engine/subject.js';

/** These rules, one after the other on one draft. */
export function asSettleRule(...rules: readonly Rule[]): SettleRule {
  return (s, ctx, lookAgain) => {
    const lane = new Lane(s, ctx, lookAgain);
    for (const rule of rules) rule(lane);
    return lane.toState();
  };
}

// Brings a lane to rest: looks at all that is known and writes down what must be done next, and says which errand that needs or when to
// look again. It asks no one and sends nothing, and it does not care in which order things became known.
import { nextErrand } from './errands.js';
import { type LaneState } from '../domain/model.js';
import { type Errand } from './errand.js';
import { type Ctx, putInvoice } from './change.js';
import { type LookAgain, type SettleRule } from './subject.js';
import { FIRST, LAST, UNTIL_STILL } from '../decisions/subjects.js';
import { SETTLE_ROUNDS } from '../policy.js';
import { isOutside, publicStatus } from '../domain/status.js';

export type Settled = {
  readonly state: LaneState;
  /** One call to somebody else; null: nothing until `dueAt`. */
  readonly errand: Errand | null;
  /** When the lane must be looked at again if nothing comes; null: never. */
  readonly dueAt: Date | null;
};

/** Decides until nothing changes any more. */
export function settle(s: LaneState, ctx: Ctx): Settled {
  const times: number[] = [];
  const lookAgain: LookAgain = (at) => {
    if (at !== null && at.getTime() > ctx.now.getTime()) times.push(at.getTime());
  };
  const state = s.invoice === null ? s : decide(s, ctx, lookAgain);
  const errand = isOutside(state) ? null : nextErrand(state, ctx, lookAgain);
  if (errand !== null) return { state, errand, dueAt: ctx.now };
  return { state, errand, dueAt: times.length === 0 ? null : new Date(Math.min(...times)) };
}

function decide(s: LaneState, ctx: Ctx, lookAgain: LookAgain): LaneState {
  const all = (rules: readonly SettleRule[], of: LaneState): LaneState =>
    rules.reduce((before, rule) => rule(before, ctx, lookAgain), of);
  let state = all(FIRST, s);
  const outside = isOutside(state); // none of our business: nothing is asked, written or told
  for (let round = 0; !outside && round < SETTLE_ROUNDS; round++) {
    const before = state;
    state = all(UNTIL_STILL, state);
    if (state === before) break;
  }
  if (!outside) state = all(LAST, state);
  const { invoice } = state;
  const status = publicStatus(state);
  return invoice === null || invoice.status === status ? state : putInvoice(state, { ...invoice, status });
}

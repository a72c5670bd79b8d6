// Brings a lane to rest: turns the known facts into calls, items, the next request to Stripe or the MoR, and the time of
// the next decision. This code sends no request itself. Facts in any order give the same result.
import { type LaneState } from '../shared/domain/model.js';
import { type NextRequest } from './lookup.js';
import { nextCall, takeBackUnwanted } from './calls.js';
import { type Lane, type Rule } from './lane.js';
import { type Subjects } from './decider.js';
import { SETTLE_ROUNDS } from '../shared/policy.js';
import { isOutside, publicStatus } from '../shared/domain/status.js';

export type Settled = {
  readonly state: LaneState;
  /** The next request to Stripe or the MoR. Null: there is none before `dueAt`. */
  readonly request: NextRequest | null;
  /** When to decide on the lane again without an event. Null: never. */
  readonly dueAt: Date | null;
};

/** Runs all rules on the lane until nothing changes. Only these rules schedule the lane's next decision. */
export function settle(subjects: Subjects, lane: Lane): Settled {
  const times: number[] = [];
  lane.decideAgain = (at) => {
    if (at !== null && at.getTime() > lane.now.getTime()) times.push(at.getTime());
  };
  if (lane.invoice !== null) runRules(subjects, lane);
  const state = lane.toState();
  const request = isOutside(state) ? null : nextRequest(subjects, lane);
  if (request !== null) return { state, request, dueAt: lane.now };
  return { state, request, dueAt: times.length === 0 ? null : new Date(Math.min(...times)) };
}

/** The lane's next request to Stripe or the MoR. Null: the lane needs none now. */
export function nextRequest(subjects: Subjects, lane: Lane): NextRequest | null {
  const { requestsFirst, requestsLast } = subjects;
  for (const next of [...requestsFirst, (of: Lane) => nextCall(subjects, of), ...requestsLast]) {
    const request = next(lane);
    if (request !== null) return request;
  }
  return null;
}

function runRules(subjects: Subjects, lane: Lane): void {
  const all = (rules: readonly Rule[]) => (): void => rules.forEach((rule) => rule(lane));
  all(subjects.before)();
  // If the MoR does not collect the invoice, Crossbill makes no calls, no items and no notifications for it.
  if (!isOutside(lane)) {
    untilStable(lane, all(subjects.untilStable));
    all(subjects.after)();
    // After the engine takes a call back, a rule may make a new call in its place.
    for (let round = 0; round < SETTLE_ROUNDS && takeBackUnwanted(lane, subjects.calls); round++) all(subjects.after)();
  }
  if (lane.invoice !== null) lane.invoice.status = publicStatus(lane);
}

/** Runs `act` again until it changes nothing. */
function untilStable(lane: Lane, act: () => void): void {
  let before = lane.toState();
  for (let round = 0; round < SETTLE_ROUNDS; round++) {
    act();
    const after = lane.toState();
    if (after === before) return;
    before = after;
  }
}

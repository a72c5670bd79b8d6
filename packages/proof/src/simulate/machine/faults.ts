// The faults of a step (call, delivery, database statement), and their sources: none, a seed's random choice, a list.
import { type Seeded } from './seeded.js';

export const processFaults = ['crash_before', 'crash_after', 'pause_before', 'pause_after'] as const;
export const databaseFaults = ['db_refused', 'db_rolled_back', 'db_answer_lost', 'db_serialization'] as const;
/**
 * The next two or five database steps, from this step on, are lost: the primary dies, and its standby never got them.
 * Only in a story with a standby.
 */
export const standbyFaults = ['standby_lacks_2', 'standby_lacks_5'] as const;
export const httpFaults = [
  'refuse',
  'lose_request',
  'lose_answer',
  'status_429',
  'status_500',
  'status_503',
  'effect_then_500',
  'garble',
  'twice',
  'slow',
] as const;
/** Stripe stores a 500 under the request's key and replays it. */
export const stripeFaults = ['stored_500', 'stored_500_effect'] as const;
export const morFaults = ['status_401'] as const;
export const deliveryFaults = ['delivery_lost', 'delivery_answer_lost', 'delivery_twice', 'delivery_late'] as const;

export type FaultKind =
  | (typeof processFaults)[number]
  | (typeof databaseFaults)[number]
  | (typeof standbyFaults)[number]
  | (typeof httpFaults)[number]
  | (typeof stripeFaults)[number]
  | (typeof morFaults)[number]
  | (typeof deliveryFaults)[number];

const faultKinds: readonly string[] = [
  ...processFaults,
  ...databaseFaults,
  ...standbyFaults,
  ...httpFaults,
  ...stripeFaults,
  ...morFaults,
  ...deliveryFaults,
];

export function isFaultKind(text: string): text is FaultKind {
  return faultKinds.includes(text);
}

/** Returns the number of lost database steps. Null: no `standby_lacks` fault. */
export function lacking(fault: FaultKind | null): number | null {
  const steps = /^standby_lacks_(\d)$/.exec(fault ?? '')?.[1];
  return steps === undefined ? null : Number(steps);
}

/** A step that can fail: its number in the run, its name, and the faults it may have. */
export type YieldPoint = { readonly at: number; readonly label: string; readonly legal: readonly FaultKind[] };

/** The number of a step in its run, and its fault. */
export type GivenFault = readonly [at: number, fault: FaultKind];

/** Called at each step. Null: nothing goes wrong. */
export type FaultSource = (point: YieldPoint) => FaultKind | null;

export const noFaults: FaultSource = () => null;

/** Calls to Stripe and the MoR fail this many times as often as database steps, because calls are rarer. */
const PEER_WEIGHT = 4;

/** Draws faults: each step fails with probability `rate`, and a call more often (`PEER_WEIGHT`). */
export function randomFaults(rng: Seeded, rate: number): FaultSource {
  return ({ legal }) => {
    const weight = legal.includes('lose_answer') ? PEER_WEIGHT : 1;
    return legal.length > 0 && rng.chance(Math.min(0.6, rate * weight)) ? rng.pick(legal) : null;
  };
}

/** Makes exactly these faults happen, each at the step with its number. */
export function givenFaults(given: ReadonlyMap<number, FaultKind>): FaultSource {
  return ({ at, legal }) => {
    const kind = given.get(at);
    return kind !== undefined && legal.includes(kind) ? kind : null;
  };
}

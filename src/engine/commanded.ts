// The result of a request from a person or the merchant's backend: a value, or a refusal.
import { type Resolution, type ReviewRow } from '../shared/domain/review-row.js';
import { isUnsent, type Lane } from './lane.js';
import { UNSENT } from '../shared/domain/ports/call.js';

/** A refused request: HTTP status, stable code, and the wrong field (null: no single field). */
export type Refusal = {
  readonly ok: false;
  readonly status: 400 | 404 | 409 | 422;
  readonly code: string;
  readonly message: string;
  readonly field: string | null;
};

export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;

export function refuse(status: Refusal['status'], code: string, message: string, field: string | null = null): Refusal {
  return { ok: false, status, code, message, field };
}

/** Refuses a request whose call Crossbill does not send. */
export const refuseUnsent = (): Refusal => refuse(409, UNSENT.code, UNSENT.message);

/** Carries out a request on the lane. Refuses a request whose call Crossbill does not send: it would have no effect. */
export function carryOut<T>(lane: Lane, act: (lane: Lane) => Result<T>): Result<T> {
  const before = lane.calls.length;
  const done = act(lane);
  return done.ok && lane.calls.slice(before).some(isUnsent) ? refuseUnsent() : done;
}

export type Choice = { readonly resolution: Resolution; readonly note: string | null; readonly by: string };

/** Carries out a person's choice for an open item. Returns null if the item closes, even if a later call fails. */
export type ChoiceRule = (lane: Lane, item: ReviewRow, choice: Choice) => Refusal | null;

/** The choice closes the item and has no other effect. */
export const nothingMore: ChoiceRule = () => null;

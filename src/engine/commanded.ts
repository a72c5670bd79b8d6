// What becomes of a request of a person or of the merchant's backend: the lane it makes, or why it cannot be carried out.
import { type LaneState } from '../domain/model.js';
import { SHADOW_MESSAGE, SHADOW_MODE } from '../domain/ports/call.js';

/** A request that cannot be carried out: HTTP status, stable code, and the field to blame (null: none). */
export type Refusal = {
  readonly ok: false;
  readonly status: 400 | 404 | 409 | 422;
  readonly code: string;
  readonly message: string;
  readonly field: string | null;
};

/** What a request came to. */
export type Result<T> = { readonly ok: true; readonly value: T } | Refusal;

/** The same with the lane that it makes: the old kind (adapter.ts). */
export type Commanded<T> = { readonly ok: true; readonly state: LaneState; readonly value: T } | Refusal;

export function refuse(status: Refusal['status'], code: string, message: string, field: string | null = null): Refusal {
  return { ok: false, status, code, message, field };
}

/** What nobody may ask for in shadow mode. */
export function refuseInShadow(): Refusal {
  return refuse(409, SHADOW_MODE, SHADOW_MESSAGE);
}

// What becomes of a request of a person or of the merchant's backend: its value, or why it cannot be carried out.
import { type Resolution, type ReviewRow } from '../domain/model.js';
import { type Lane } from './draft.js';
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

export function refuse(status: Refusal['status'], code: string, message: string, field: string | null = null): Refusal {
  return { ok: false, status, code, message, field };
}

/** What nobody may ask for in shadow mode. */
export function refuseInShadow(): Refusal {
  return refuse(409, SHADOW_MODE, SHADOW_MESSAGE);
}

export type Choice = { readonly resolution: Resolution; readonly note: string | null; readonly by: string };

/**
 * Carries out a person's choice for an open item. Returns why the choice cannot be carried out, or null: then the item closes, whatever comes
 * of the calls after it.
 */
export type ChoiceRule = (lane: Lane, item: ReviewRow, choice: Choice) => Refusal | null;

/** The choice closes the item, and nothing else follows. */
export const nothingMore: ChoiceRule = () => null;

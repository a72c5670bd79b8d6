// Between a route and the MoR's client: a checked request goes out, an answer or the reason why there is none comes back.
import { type CallOutcome } from '../../domain/ports/call.js';
import { type FieldError, morProblem, Problem } from './problem.js';

type Checked<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly code: string; readonly errors: readonly FieldError[] };

/**
 * A request with the checks of its document passed; otherwise 400 with the MoR's own code.
 * @param within the field of our own request around it, for example `tax`; null: it is the whole body
 */
export function checkedRequest<T>(checked: Checked<T>, within: string | null = null): T {
  if (checked.ok) return checked.value;
  const errors = checked.errors.map(({ field, message }) => ({ field: fieldWithin(within, field), message }));
  const [first] = errors;
  const message = first === undefined ? 'The request is malformed.' : `${first.field}: ${first.message}`;
  throw new Problem(400, checked.code, message, errors);
}

/** The name of a field within another one: `customer` in `tax` is `tax.customer`. */
export function fieldWithin(within: string | null, field: string): string {
  if (within === null) return field;
  return field === 'body' || field === '' ? within : `${within}.${field}`;
}

/** The MoR's answer; a refusal passes with its status and code, silence and 5xx are 502 `mor_unavailable`. */
export function answeredOrThrow<T>(outcome: CallOutcome<T>): T {
  if (outcome.ok) return outcome.value;
  throw morProblem(outcome);
}

// Explains an error in a request to the MoR with the field names of our caller.
import { Problem } from '../../frames/api/http/problem.js';
import { type WireRequest } from '../../shared/domain/ports/call.js';

/**
 * Builds a request. Returns the request's bytes, or the problem in its fields. Crossbill reports the problem only if it
 * must send the request: an invoice with no amount due, or with a live object, needs no request.
 */
export function wireOrProblem(
  build: () => WireRequest,
): { readonly wire: WireRequest; readonly problem: null } | { readonly wire: null; readonly problem: Problem } {
  try {
    return { wire: build(), problem: null };
  } catch (e) {
    if (e instanceof Problem) return { wire: null, problem: e };
    throw e;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  issueDate: 'issue_date',
  dueDate: 'due_date',
  taxCalculationId: 'tax_calculation_id',
  returnUrl: 'return_url',
  expiresIn: 'expires_in',
};

/**
 * Translates a field name of Document 2 into our caller's field name. Names inside `provider` and `recipient` stay as
 * in Document 2.
 */
export function callersField(field: string): string {
  return NAMES[field] ?? field;
}

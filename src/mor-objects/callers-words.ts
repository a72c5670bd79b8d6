// What is wrong with a request for the MoR, told to our caller in our caller's words.
import { Problem } from '../api/http/problem.js';
import { type WireRequest } from '../domain/ports/call.js';

/**
 * The bytes, or the problem with the request. The caller throws the problem only if it needs bytes: an invoice without anything to pay, or
 * with a live object, needs none.
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

/** Document 2's name of a field → the name our caller gave it. Those inside `provider` and `recipient` are the document's. */
export function callersField(field: string): string {
  return NAMES[field] ?? field;
}

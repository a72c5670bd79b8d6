// Every error code of the three documents: where it comes from, what to do about it, and what to tell the operator.
import { onboardingErrors } from './error-guide/onboarding.js';
import { paymentErrors } from './error-guide/payments.js';
import { proformaErrors } from './error-guide/proforma.js';
import { taxErrors } from './error-guide/tax.js';
import { type ErrorAction, type ErrorRow, type MorCallName } from './error-guide/types.js';

export { type ErrorAction, type ErrorRow, type MorCallName } from './error-guide/types.js';

const everywhere: readonly ErrorRow[] = [
  {
    calls: 'all',
    status: 401,
    code: null,
    action: 'refresh_token',
    advice:
      'The token was refused, and so was a fresh one: check the client id and secret, and that they are of the right kind.',
  },
  {
    calls: 'all',
    status: 403,
    code: 'merchant_suspended',
    action: 'person',
    advice:
      'The merchant account is suspended or the credentials lack a scope: ask the MoR; calls wait and nothing is lost.',
  },
  {
    calls: 'all',
    status: 429,
    code: 'rate_limited',
    action: 'retry_same_key',
    advice: 'The MoR asks us to slow down; the call is sent again later under the same key.',
  },
];

export const ERROR_GUIDE: readonly ErrorRow[] = [
  ...everywhere,
  ...onboardingErrors,
  ...taxErrors,
  ...proformaErrors,
  ...paymentErrors,
];

const LISTED: ReadonlySet<string> = new Set(ERROR_GUIDE.flatMap((row) => row.code ?? []));

/** An error code as a bounded word: itself where the documents list it, else `other`. */
export function listedCode(code: string): string {
  return LISTED.has(code) ? code : 'other';
}

/**
 * The guide's row for an answer, or null when the documents have none. `field` picks among the reasons of one code; without
 * it, or when no reason names it, the row without a field is taken.
 */
export function guideRow(
  call: MorCallName,
  status: number | null,
  code: string | null,
  field: string | null = null,
): ErrorRow | null {
  const rows = ERROR_GUIDE.filter(
    (row) => row.status === status && row.code === code && (row.calls === 'all' || row.calls.includes(call)),
  );
  return rows.find((row) => row.field !== undefined && row.field === field) ?? rows.find((row) => !row.field) ?? null;
}

export type Advice = { readonly action: ErrorAction; readonly advice: string };

/** What to do about an answer. Always says something: what the documents do not list is judged by its status. */
export function adviceFor(
  call: MorCallName,
  status: number | null,
  code: string | null,
  field: string | null = null,
): Advice {
  const row = guideRow(call, status, code, field) ?? guideRow(call, status, null);
  if (row !== null) return { action: row.action, advice: row.advice };
  if (status === null || status >= 500 || status === 408 || status === 429) {
    return {
      action: 'retry_same_key',
      advice:
        'The MoR gave no usable answer; the same call is sent again under the same key until its outcome is known.',
    };
  }
  if (status >= 300 && status < 400) {
    return {
      action: 'person',
      advice: 'The MoR answered with a redirect, which is never followed: check the configured addresses.',
    };
  }
  return { action: 'person', advice: 'The MoR refused the call for a reason its documents do not list: ask the MoR.' };
}

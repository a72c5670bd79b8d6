// Every error code of the three documents: where it comes from and what to tell the operator.
import { ERROR_CODES } from '@crossbill/mor';
import { onboardingErrors } from './error-guide/onboarding.js';
import { paymentErrors } from './error-guide/payments.js';
import { proformaErrors } from './error-guide/proforma.js';
import { taxErrors } from './error-guide/tax.js';
import { type ErrorRow, type MorCallName } from './error-guide/types.js';

export { type ErrorRow, type MorCallName } from './error-guide/types.js';

const everywhere: readonly ErrorRow[] = [
  {
    calls: 'all',
    status: 401,
    code: null,
    advice:
      'The token was refused, and so was a fresh one: check the client id and secret, and that they are of the right kind.',
  },
  {
    calls: 'all',
    status: 403,
    code: 'merchant_suspended',
    advice:
      'The merchant account is suspended or the credentials lack a scope: ask the MoR; calls wait and nothing is lost.',
  },
  {
    calls: 'all',
    status: 429,
    code: 'rate_limited',
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

const LISTED: ReadonlySet<string> = new Set(ERROR_CODES);

/** An error code as a bounded word: itself where the documents list it, else `other`. */
export function listedCode(code: string): string {
  return LISTED.has(code) ? code : 'other';
}

/**
 * The guide's row for an answer, or null when the documents have none. `fields`, the answer's own, pick among the reasons of one code;
 * without them, or when no reason is about one of them, the row without a field is taken.
 */
export function guideRow(
  call: MorCallName,
  status: number | null,
  code: string | null,
  fields: readonly string[] = [],
): ErrorRow | null {
  const rows = ERROR_GUIDE.filter(
    (row) => row.status === status && row.code === code && (row.calls === 'all' || row.calls.includes(call)),
  );
  const about = ({ field }: ErrorRow): boolean =>
    field !== undefined && fields.some((named) => named === field || named.startsWith(`${field}.`));
  return rows.find(about) ?? rows.find((row) => row.field === undefined) ?? null;
}

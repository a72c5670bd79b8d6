// The MoR's refusal of a request: status, code and fields, in the error shape of Documents 1 and 2.
import { Refusal } from '../kernel/http.js';
import { type FieldError } from '../kernel/json.js';

/** The body is `{code, errors: [{field, message}], …extra}`. An example of `extra` is `existingProformaInvoiceId`. */
export function refusal(
  status: number,
  code: string,
  errors: readonly FieldError[],
  extra: Readonly<Record<string, string>> = {},
): Refusal {
  return new Refusal({ status, body: { code, errors, ...extra } });
}

/** A refusal with one field. */
export function refuse(status: number, code: string, field: string, message: string): Refusal {
  return refusal(status, code, [{ field, message }]);
}

/** 404 without a field. An unknown object and another merchant's object look the same (Documents 1 and 2). */
export function notFound(): Refusal {
  return refusal(404, 'not_found', []);
}

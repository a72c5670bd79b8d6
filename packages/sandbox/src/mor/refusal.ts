// The MoR's refusal of a request: status, code and fields, in the one error shape of Documents 1 and 2.
import { Refusal } from '../kernel/http.js';
import { type FieldError } from '../kernel/json.js';

/** `{code, errors: [{field, message}], …extra}`; extra is for example `existingProformaInvoiceId`. */
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

/** Unknown and foreign look the same (Documents 1 and 2): 404 and no field. */
export function notFound(): Refusal {
  return refusal(404, 'not_found', []);
}

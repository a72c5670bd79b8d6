// The calls of the three documents, and a guide to their errors: the meaning of each answer and the remedy, one row a
// line.
/**
 * - `refused`: the MoR understood and will not do it. The call surely had no effect. The same bytes would fail again.
 * - `retry`: the call surely had no effect, for a passing reason (429, no connection). Send the same bytes with the
 *   same key later.
 * - `unknown`: the call may have had its effect (timeout, reset, 5xx, an unreadable answer). Send the same bytes with
 *   the same key.
 * - `stopped`: the MoR does not accept the credentials or the account (401, 403). A person must act.
 */
export type FailureKind = 'refused' | 'retry' | 'unknown' | 'stopped';

/** The name of each call. A row of `ERROR_GUIDE` belongs to one or more of these calls. */
export type MorCallName =
  | 'partner.whoami'
  | 'partner.regions'
  | 'onboarding.initiate'
  | 'merchant.list'
  | 'merchant.create'
  | 'merchant.read'
  | 'application.read'
  | 'application.put'
  | 'application.patch'
  | 'application.submit'
  | 'tax.calculate'
  | 'tax.transaction.create'
  | 'tax.transaction.list'
  | 'tax.transaction.read'
  | 'tax.transaction.invoice'
  | 'tax.refund.list'
  | 'tax.refund.create'
  | 'catalogue.import'
  | 'proforma.create'
  | 'proforma.from_calculation'
  | 'proforma.read'
  | 'proforma.document'
  | 'proforma.delete'
  | 'invoice.read'
  | 'payment_link.create'
  | 'payment_link.read'
  | 'e_invoice.read'
  | 'webhook.create'
  | 'webhook.list'
  | 'webhook.delete'
  | 'setup_intent.create'
  | 'payment_intent.create'
  | 'refund.create';

const APPLICATION = ['application.put', 'application.patch'] as const;
const TRANSACTION = ['tax.transaction.read', 'tax.transaction.invoice', 'tax.refund.list'] as const;
const PROFORMA = ['proforma.create', 'proforma.from_calculation'] as const;
const ONE_PROFORMA = ['proforma.read', 'proforma.document', 'proforma.delete'] as const;
const INTENTS = ['setup_intent.create', 'payment_intent.create'] as const;

/**
 * `field`: tells apart rows with the same code. The row applies if the MoR names this field, or a field within it.
 * `kind`: the kind of failure, if the HTTP status alone would give a wrong kind.
 */
type Row = readonly [
  calls: MorCallName | 'all' | readonly MorCallName[],
  status: number,
  code: string | null,
  advice: string,
  more?: { readonly field?: string; readonly kind?: FailureKind },
];

// prettier-ignore
const ERROR_ROWS = [
  // Every call.
  ['all', 401, null, 'The token was refused, and so was a fresh one: check the client id and secret, and that they are of the right kind.'],
  ['all', 403, 'merchant_suspended', 'The merchant account is suspended or the credentials lack a scope: ask the MoR; calls wait and nothing is lost.'],
  ['all', 429, 'rate_limited', 'The MoR asks us to slow down; the call is sent again later under the same key.'],
  // Document 1: merchants, applications, submission.
  ['onboarding.initiate', 400, 'invalid_argument', 'A required field of the company is missing or blank: fill in the fields named and start again.'],
  // Document 1, rule 3: the same body gives the same result, and the MoR makes no application.
  ['onboarding.initiate', 500, 'internal_error', 'The MoR could not read the request, and would not next time either: look at gmvTier and the field types.', { kind: 'refused' }],
  ['merchant.create', 400, 'validation_error', 'The merchant reference is missing or blank: send one.'],
  ['merchant.create', 409, 'duplicate_reference', 'The reference is taken by a merchant of this partner: go on with that merchant.'],
  [APPLICATION, 400, 'validation_error', 'Correct the fields named; the product code must be the one sent first and regions must not be empty.'],
  [APPLICATION, 409, 'invalid_status', 'The application can be changed only before it is submitted or after changes were requested: read its status.'],
  ['application.submit', 409, 'invalid_status', 'The application was submitted before: read its status and wait for the review.'],
  ['application.submit', 400, 'incomplete_application', 'Requirements are still due: supply what the errors name (checkoutUrl means storeUrls) and submit again.'],
  [[...APPLICATION, 'merchant.read', 'application.read', 'application.submit'], 404, 'not_found', 'The MoR knows no such merchant for this partner, or the merchant has no application yet.'],
  // Document 2: calculations, tax transactions and their refunds.
  ['tax.calculate', 400, 'invalid_argument', 'A field is missing or wrong: correct the fields named.'],
  ['tax.calculate', 400, 'missing_country_of_origin', 'A physical line that crosses a border needs countryOfOrigin: the error names the line.'],
  ['tax.calculate', 400, 'missing_classification_text', 'A physical line that crosses a border needs a title or a description: the error names the line.'],
  ['tax.calculate', 400, 'shipping_address_required', 'An order with a physical line needs customer.shippingAddress.'],
  ['tax.calculate', 400, 'invalid_state', 'Tax of Record is not activated for this merchant: ask the MoR.'],
  ['tax.calculate', 409, 'region_not_activated', "The merchant is not activated for the customer's jurisdiction: activate it at the MoR or do not sell there."],
  ['tax.calculate', 409, 'region_not_supported', 'The customer is outside the jurisdictions that the MoR supports.'],
  ['tax.calculate', 409, 'physical_goods_not_supported', 'The MoR cannot price physical goods for that destination.'],
  ['tax.calculate', 409, 'integration_credentials_invalid', "The MoR's tax provider refused its credentials: alarm the MoR; no calculation works until it is repaired."],
  ['tax.calculate', 409, 'integration_not_configured', "The MoR's tax integration is missing: alarm the MoR; no calculation works until it is set up."],
  ['tax.calculate', 422, 'nfse_validation_failed', 'The Brazilian customer data does not pass: correct names, CPF or CNPJ, and tax regime.'],
  // Document 2: the only failure of a calculation that is safe to retry.
  ['tax.calculate', 502, 'tax_provider_unavailable', "The MoR's tax provider is away; the calculation is asked for again after a pause.", { kind: 'retry' }],
  ['tax.transaction.create', 400, 'invalid_argument', 'A field is missing or taxCalculationId is no uuid: correct the fields named.'],
  ['tax.transaction.create', 400, 'invalid_state', 'The calculation has expired or was used under another reference: calculate again and commit that one.', { field: 'taxCalculationId' }],
  ['tax.transaction.create', 400, 'invalid_state', 'The reference already names a transaction with another calculation: find out which of the two is right.', { field: 'merchantTransactionReference' }],
  ['tax.transaction.create', 400, 'invalid_state', 'Tax of Record is not activated for this merchant: ask the MoR.', { field: 'status' }],
  ['tax.transaction.create', 400, 'invalid_state', "The customer's location is not activated, or the MoR product already covers that region so that nothing is to be committed."],
  ['tax.transaction.create', 404, 'not_found', 'The MoR knows no such calculation for this merchant: calculate again.'],
  ['tax.refund.create', 400, 'invalid_argument', 'A field is wrong, the refund date lies in the future, or a line would be refunded beyond its total.'],
  ['tax.refund.create', 400, 'invalid_state', 'The refund reference already names another refund: compare the two before anything else is sent.'],
  ['tax.refund.create', 404, 'not_found', 'The MoR knows no such transaction, or the transaction has no such line.'],
  [TRANSACTION, 400, 'invalid_argument', 'The transaction id is not valid.'],
  [TRANSACTION, 404, 'not_found', 'The MoR knows no such transaction for this merchant.'],
  ['tax.transaction.list', 400, 'invalid_argument', 'The page size must be 1 to 100 and the cursor one that this list gave.'],
  // Document 2: proforma invoices.
  [PROFORMA, 400, 'invalid_argument', 'Correct the fields named; dueDate must not lie before issueDate.'],
  [PROFORMA, 422, 'unsupported_jurisdiction', 'The MoR does not issue proforma invoices in that jurisdiction.'],
  [PROFORMA, 422, 'merchant_reference_conflict', 'A live proforma invoice holds the reference: go on with that one, or delete it first.'],
  [PROFORMA, 422, 'idempotency_key_reused', 'The key was used for another request and nothing was created: submit under a new key.'],
  ['proforma.from_calculation', 404, 'not_found', 'The MoR knows no such calculation for this merchant: calculate again.'],
  ['proforma.from_calculation', 422, 'tax_calculation_already_used', 'The calculation was used before: calculate again and submit under a new key.'],
  ['proforma.from_calculation', 422, 'tax_calculation_expired', 'The calculation has expired: calculate again and submit under a new key.'],
  ['proforma.from_calculation', 422, 'tax_calculation_unusable', 'This calculation cannot become a proforma invoice: the errors name the reason; a calculation older than two hours is made again.'],
  [PROFORMA, 422, 'no_payment_destination', "The MoR has no settlement account in the jurisdiction's currency: ask the MoR."],
  [PROFORMA, 422, 'nfse_validation_failed', 'The recipient does not pass Brazilian e-invoicing checks: correct the fields named.'],
  [ONE_PROFORMA, 400, 'invalid_argument', 'The id is no uuid.'],
  [ONE_PROFORMA, 404, 'not_found', 'The MoR knows no such proforma invoice for this merchant; a deleted one is gone from all reads.'],
  ['proforma.document', 409, 'issuance_failed', 'Issuance failed for good and there will be no document: create the proforma invoice again under a new key.'],
  ['proforma.delete', 409, 'not_deletable', 'The proforma invoice is issued and can only be cancelled at the MoR.'],
  // Document 3, and Document 2's invoice files, payment links, e-invoices and webhook endpoints.
  ['setup_intent.create', 400, 'invalid_request', 'The body is malformed or names a payment method type that does not exist.'],
  ['setup_intent.create', 400, 'invalid_request', 'Correct the value named, or, if the MoR takes no merchant_customer in a setup intent, leave it out (setting MOR_SETUP_CUSTOMER=omit) and send the request again under a new key: then only the MoR knows whose method it saved, and a renewal may find none, or be charged on that of another customer.', { field: 'merchant_customer' }],
  ['payment_intent.create', 400, 'invalid_request', "Amount, currency or the merchant's customer id is missing or malformed."],
  [INTENTS, 404, 'tax_calculation_not_found', 'The MoR knows no such calculation: calculate again and send the request again under a new key.'],
  [[...INTENTS, 'refund.create'], 409, 'idempotency_conflict', 'The key was used with another body: the first call stands, this one was not done, and the key is not changed.'],
  ['setup_intent.create', 422, 'validation_error', 'A payment method type is not enabled for this account at the MoR.'],
  ['payment_intent.create', 422, 'unsupported_currency', 'The currency is not enabled for this account at the MoR.'],
  ['payment_intent.create', 422, 'amount_out_of_range', "The amount is below the processor's minimum or above the account's cap for one payment."],
  // Document 3 calls a repeat safe for intents only. A refund with an upstream timeout may have moved money.
  [INTENTS, 503, 'psp_unavailable', "The MoR's processor is away; the same call is safe to send again under the same key.", { kind: 'retry' }],
  ['refund.create', 400, 'invalid_request', 'The amount is more than is left of the payment, or the currency differs: compare the known refunds first.'],
  ['refund.create', 404, 'payment_not_found', 'The MoR knows no such payment for this merchant.'],
  ['refund.create', 422, 'payment_not_refundable', 'The payment is fully refunded, never succeeded, or was charged back.'],
  ['invoice.read', 404, 'not_found', 'The MoR knows no such payment or refund for this merchant, or not yet.'],
  ['payment_link.create', 400, 'validation_error', 'Correct the fields named.'],
  ['payment_link.create', 409, 'no_active_arrangement', 'The merchant has no active arrangement with the MoR for that jurisdiction.'],
  ['payment_link.create', 409, 'unsupported_outpost_role', 'The arrangement for that jurisdiction does not let the MoR collect the payment.'],
  ['payment_link.read', 404, 'not_found', 'The MoR knows no such payment link for this merchant.'],
  ['e_invoice.read', 400, 'invalid_argument', 'The id is no uuid.'],
  ['e_invoice.read', 404, 'not_found', 'The MoR knows no such e-invoice, or the invoice needs none.'],
  ['webhook.create', 400, 'unknown_event', 'The list of events is empty or names one that the MoR does not have.'],
  ['webhook.create', 400, 'invalid_url', 'The address must be https and resolve to a public address.'],
  ['webhook.create', 409, 'webhook_endpoint_limit_exceeded', 'Ten endpoints are active already: delete one first.'],
  ['webhook.delete', 404, 'not_found', 'The MoR knows no such webhook endpoint for this merchant.'],
] as const satisfies readonly Row[];

/** Every error code of the three documents. */
export type ErrorCode = NonNullable<(typeof ERROR_ROWS)[number][2]>;

export const ERROR_GUIDE: readonly Row[] = ERROR_ROWS;

const LISTED: ReadonlySet<string | null> = new Set(ERROR_GUIDE.map(([, , code]) => code));

/** An error code for metrics: the code itself if the documents list it, or else `other`. */
export function listedCode(code: string): string {
  return LISTED.has(code) ? code : 'other';
}

function rowsOf(call: MorCallName, status: number, code: string | null): readonly Row[] {
  return ERROR_GUIDE.filter(
    ([calls, at, known]) => at === status && known === code && (calls === 'all' || [calls].flat().includes(call)),
  );
}

/**
 * The advice for an answer. Null: the documents do not list the answer. If several rows have this code, `fields` (the
 * wrong fields in the answer) choose the row. If no row matches a field, the row without a field counts.
 */
export function adviceFor(
  call: MorCallName,
  status: number,
  code: string | null,
  fields: readonly string[] = [],
): string | null {
  const rows = rowsOf(call, status, code);
  const isAbout = (field: string) => fields.some((named) => named === field || named.startsWith(`${field}.`));
  const row =
    rows.find(([, , , , more]) => more?.field !== undefined && isAbout(more.field)) ??
    rows.find(([, , , , more]) => more?.field === undefined);
  return row?.[3] ?? null;
}

/** The documents' error table decides first. For an answer outside the table the HTTP status decides. */
export function kindOf(call: MorCallName, status: number, code: string | null): FailureKind {
  const listed = rowsOf(call, status, code).find(([, , , , more]) => more?.kind !== undefined)?.[4]?.kind;
  if (listed !== undefined) return listed;
  if (status === 401 || status === 403) return 'stopped';
  if (status === 429) return 'retry';
  if (status === 408 || status >= 500) return 'unknown'; // a proxy may answer 408 after it sent the request on
  return 'refused';
}

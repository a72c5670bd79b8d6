// The calls of the three documents, the codes of their errors, and the few answers with a kind of their own.
/**
 * - `refused`: the MoR understood and will not do it. The effect is surely absent; the same bytes are useless.
 * - `retry`: surely not done, for a passing reason (429, no connection). Send the same bytes under the same key later.
 * - `unknown`: done or not, nobody can say (timeout, reset, 5xx, an answer without sense). Send the same bytes under the same key.
 * - `stopped`: the MoR does not accept the credentials or the account (401, 403). A person must act.
 */
export type FailureKind = 'refused' | 'retry' | 'unknown' | 'stopped';

/** One name per row of the documents' error tables. */
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

export const ERROR_CODES = [
  // Document 1
  'validation_error',
  'invalid_argument',
  'incomplete_application',
  'not_found',
  'duplicate_reference',
  'invalid_status',
  'internal_error',
  // Document 2
  'missing_country_of_origin',
  'missing_classification_text',
  'shipping_address_required',
  'invalid_state',
  'region_not_activated',
  'region_not_supported',
  'physical_goods_not_supported',
  'integration_credentials_invalid',
  'integration_not_configured',
  'nfse_validation_failed',
  'tax_provider_unavailable',
  'tax_calculation_already_used',
  'tax_calculation_expired',
  'tax_calculation_unusable',
  'unsupported_jurisdiction',
  'no_payment_destination',
  'merchant_reference_conflict',
  'idempotency_key_reused',
  'issuance_failed',
  'not_deletable',
  'no_active_arrangement',
  'unsupported_outpost_role',
  'unknown_event',
  'invalid_url',
  'webhook_endpoint_limit_exceeded',
  // Document 3
  'invalid_request',
  'merchant_suspended',
  'tax_calculation_not_found',
  'idempotency_conflict',
  'rate_limited',
  'unsupported_currency',
  'amount_out_of_range',
  'psp_unavailable',
  'payment_not_found',
  'payment_not_refundable',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

const KINDS: readonly (readonly [calls: readonly MorCallName[], status: number, code: ErrorCode, kind: FailureKind])[] =
  [
    // Document 1, rule 3: the same body gives the same result, and no application is made.
    [['onboarding.initiate'], 500, 'internal_error', 'refused'],
    // Document 2: the only retryable failure of a calculation.
    [['tax.calculate'], 502, 'tax_provider_unavailable', 'retry'],
    // Document 3 says so of the intents; a refund with a timeout upstream may have moved money.
    [['setup_intent.create', 'payment_intent.create'], 503, 'psp_unavailable', 'retry'],
  ];

/** The documents' rows first; the rest goes by its status. */
export function kindOf(call: MorCallName, status: number, code: string | null): FailureKind {
  const row = KINDS.find(([calls, at, known]) => at === status && known === code && calls.includes(call));
  if (row !== undefined) return row[3];
  if (status === 401 || status === 403) return 'stopped';
  if (status === 429) return 'retry';
  if (status === 408 || status >= 500) return 'unknown'; // a proxy may say 408 after the request went on
  return 'refused';
}

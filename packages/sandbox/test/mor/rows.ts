// Every (endpoint, status, code) of Documents 1 and 2, as data: for the tests and other checks.

export type Row = {
  readonly area: 'onboarding' | 'tax' | 'proforma' | 'money' | 'webhooks';
  /** Method and path pattern. */
  readonly endpoint: string;
  readonly status: number;
  /** Empty where the document gives none. */
  readonly code: string;
};

function expand(area: Row['area'], endpoint: string, outcomes: string): Row[] {
  return outcomes.split(' ').map((outcome) => {
    const [status = '', code = ''] = outcome.split(':');
    return { area, endpoint, status: Number(status), code };
  });
}

const merchant = '/partner/api/merchants/:merchantId';
const transaction = '/api/tax/transactions/:transaction_id';

export const rows: readonly Row[] = [
  ...expand('onboarding', 'GET /partner/api/whoami', '200 401'),
  ...expand('onboarding', 'GET /partner/api/regions', '200 401'),
  ...expand('onboarding', 'POST /partner/api/onboarding/initiate', '200 400:invalid_argument 401 500:internal_error'),
  ...expand('onboarding', 'GET /partner/api/merchants', '200 401'),
  ...expand('onboarding', 'POST /partner/api/merchants', '201 400:validation_error 401 409:duplicate_reference'),
  ...expand('onboarding', `GET ${merchant}`, '200 401 404:not_found'),
  ...expand('onboarding', `GET ${merchant}/application`, '200 401 404:not_found'),
  ...expand(
    'onboarding',
    `PUT ${merchant}/application`,
    '200 201 400:validation_error 401 404:not_found 409:invalid_status',
  ),
  ...expand(
    'onboarding',
    `PATCH ${merchant}/application`,
    '200 400:validation_error 401 404:not_found 409:invalid_status',
  ),
  ...expand(
    'onboarding',
    `POST ${merchant}/application/submit`,
    '200 400:incomplete_application 401 404:not_found 409:invalid_status',
  ),
  ...expand(
    'tax',
    'POST /api/tax/calculations',
    '201 400:invalid_argument 400:missing_country_of_origin 400:missing_classification_text 400:shipping_address_required ' +
      '400:invalid_state 401 409:region_not_activated 409:region_not_supported 409:physical_goods_not_supported ' +
      '409:integration_credentials_invalid 409:integration_not_configured 422:nfse_validation_failed ' +
      '502:tax_provider_unavailable',
  ),
  ...expand('tax', 'POST /api/tax/transactions', '200 400:invalid_argument 400:invalid_state 401 404:not_found'),
  ...expand('tax', 'GET /api/tax/transactions', '200 400:invalid_argument 401'),
  ...expand('tax', `GET ${transaction}`, '200 400:invalid_argument 401 404:not_found'),
  ...expand('tax', `GET ${transaction}/refunds`, '200 400:invalid_argument 401 404:not_found'),
  ...expand('tax', `POST ${transaction}/refunds`, '200 400:invalid_argument 400:invalid_state 401 404:not_found'),
  ...expand('tax', `GET ${transaction}/invoice`, '200 202 400:invalid_argument 401 404:not_found'),
  ...expand('tax', 'POST /api/catalogue/products', '201 200 400:invalid_argument 401'),
  ...expand(
    'proforma',
    'POST /api/proforma-invoices',
    '202 400:invalid_argument 401 422:unsupported_jurisdiction 422:merchant_reference_conflict 422:idempotency_key_reused',
  ),
  ...expand(
    'proforma',
    'POST /api/proforma-invoices/from-tax-calculation',
    '202 400:invalid_argument 401 404:not_found 422:tax_calculation_already_used 422:tax_calculation_expired ' +
      '422:tax_calculation_unusable 422:unsupported_jurisdiction 422:no_payment_destination 422:nfse_validation_failed ' +
      '422:merchant_reference_conflict 422:idempotency_key_reused',
  ),
  ...expand('proforma', 'GET /api/proforma-invoices/:id', '200 400:invalid_argument 401 404:not_found'),
  ...expand('proforma', 'GET /api/proforma-invoices/:id/document', '200 202 401 404:not_found 409:issuance_failed'),
  ...expand(
    'proforma',
    'DELETE /api/proforma-invoices/:id',
    '204 400:invalid_argument 401 404:not_found 409:not_deletable',
  ),
  ...expand('proforma', 'GET /api/e-invoices/:id', '200 400:invalid_argument 401 404:not_found'),
  ...expand('money', 'GET /api/payments/:paymentId/invoice', '200 202 401 404:not_found'),
  ...expand('money', 'GET /api/payments/invoice', '200 202 401 404:not_found'),
  ...expand('money', 'GET /api/refunds/:refundId/invoice', '200 202 401 404:not_found'),
  ...expand('money', 'GET /api/refunds/invoice', '200 202 401 404:not_found'),
  ...expand(
    'money',
    'POST /api/payment-links',
    '201 200 400:validation_error 401 409:no_active_arrangement 409:unsupported_outpost_role',
  ),
  ...expand('money', 'GET /api/payment-links/:id', '200 401 404:not_found'),
  ...expand(
    'webhooks',
    'POST /api/webhooks',
    '201 400:unknown_event 400:invalid_url 401 409:webhook_endpoint_limit_exceeded',
  ),
  ...expand('webhooks', 'GET /api/webhooks', '200 401'),
  ...expand('webhooks', 'DELETE /api/webhooks/:webhookId', '204 401 404:not_found'),
];

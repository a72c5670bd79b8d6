// Errors of Document 2 on calculations, tax transactions and their refunds.
import { type ErrorRow, type MorCallName } from './types.js';

const calculate = { calls: ['tax.calculate'] as const satisfies readonly MorCallName[] };
const commit = { calls: ['tax.transaction.create'] as const satisfies readonly MorCallName[] };
const refund = { calls: ['tax.refund.create'] as const satisfies readonly MorCallName[] };
const reads = {
  calls: [
    'tax.transaction.read',
    'tax.transaction.invoice',
    'tax.refund.list',
  ] as const satisfies readonly MorCallName[],
};

export const taxErrors: readonly ErrorRow[] = [
  {
    ...calculate,
    status: 400,
    code: 'invalid_argument',
    advice: 'A field is missing or wrong: correct the fields named.',
  },
  {
    ...calculate,
    status: 400,
    code: 'missing_country_of_origin',
    advice: 'A physical line that crosses a border needs countryOfOrigin: the error names the line.',
  },
  {
    ...calculate,
    status: 400,
    code: 'missing_classification_text',
    advice: 'A physical line that crosses a border needs a title or a description: the error names the line.',
  },
  {
    ...calculate,
    status: 400,
    code: 'shipping_address_required',
    advice: 'An order with a physical line needs customer.shippingAddress.',
  },
  {
    ...calculate,
    status: 400,
    code: 'invalid_state',
    advice: 'Tax of Record is not activated for this merchant: ask the MoR.',
  },
  {
    ...calculate,
    status: 409,
    code: 'region_not_activated',
    advice:
      "The merchant is not activated for the customer's jurisdiction: activate it at the MoR or do not sell there.",
  },
  {
    ...calculate,
    status: 409,
    code: 'region_not_supported',
    advice: 'The customer is outside the jurisdictions that the MoR supports.',
  },
  {
    ...calculate,
    status: 409,
    code: 'physical_goods_not_supported',
    advice: 'The MoR cannot price physical goods for that destination.',
  },
  {
    ...calculate,
    status: 409,
    code: 'integration_credentials_invalid',
    advice: "The MoR's tax provider refused its credentials: alarm the MoR; no calculation works until it is repaired.",
  },
  {
    ...calculate,
    status: 409,
    code: 'integration_not_configured',
    advice: "The MoR's tax integration is missing: alarm the MoR; no calculation works until it is set up.",
  },
  {
    ...calculate,
    status: 422,
    code: 'nfse_validation_failed',
    advice: 'The Brazilian customer data does not pass: correct names, CPF or CNPJ, and tax regime.',
  },
  {
    ...calculate,
    status: 502,
    code: 'tax_provider_unavailable',
    advice: "The MoR's tax provider is away; the calculation is asked for again after a pause.",
  },
  {
    ...commit,
    status: 400,
    code: 'invalid_argument',
    advice: 'A field is missing or taxCalculationId is no uuid: correct the fields named.',
  },
  {
    ...commit,
    status: 400,
    code: 'invalid_state',
    field: 'taxCalculationId',
    advice: 'The calculation has expired or was used under another reference: calculate again and commit that one.',
  },
  {
    ...commit,
    status: 400,
    code: 'invalid_state',
    field: 'merchantTransactionReference',
    advice: 'The reference already names a transaction with another calculation: find out which of the two is right.',
  },
  {
    ...commit,
    status: 400,
    code: 'invalid_state',
    field: 'status',
    advice: 'Tax of Record is not activated for this merchant: ask the MoR.',
  },
  {
    ...commit,
    status: 400,
    code: 'invalid_state',
    advice:
      "The customer's location is not activated, or the MoR product already covers that region so that nothing is to be committed.",
  },
  {
    ...commit,
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such calculation for this merchant: calculate again.',
  },
  {
    ...refund,
    status: 400,
    code: 'invalid_argument',
    advice: 'A field is wrong, the refund date lies in the future, or a line would be refunded beyond its total.',
  },
  {
    ...refund,
    status: 400,
    code: 'invalid_state',
    advice: 'The refund reference already names another refund: compare the two before anything else is sent.',
  },
  {
    ...refund,
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such transaction, or the transaction has no such line.',
  },
  {
    ...reads,
    status: 400,
    code: 'invalid_argument',
    advice: 'The transaction id is not valid.',
  },
  {
    ...reads,
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such transaction for this merchant.',
  },
  {
    calls: ['tax.transaction.list'],
    status: 400,
    code: 'invalid_argument',
    advice: 'The page size must be 1 to 100 and the cursor one that this list gave.',
  },
];

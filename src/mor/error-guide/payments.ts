// Errors of Document 3, and of Document 2's invoice files, payment links, e-invoices and webhook endpoints.
import { type ErrorRow, type MorCallName } from './types.js';

const intents = ['setup_intent.create', 'payment_intent.create'] as const satisfies readonly MorCallName[];

export const paymentErrors: readonly ErrorRow[] = [
  {
    calls: ['setup_intent.create'],
    status: 400,
    code: 'invalid_request',
    advice: 'The body is malformed or names a payment method type that does not exist.',
  },
  {
    calls: ['setup_intent.create'],
    status: 400,
    code: 'invalid_request',
    field: 'merchant_customer',
    advice:
      'Correct the value named, or, if the MoR takes no merchant_customer in a setup intent, set MOR_SETUP_CUSTOMER=omit and send the request again under a new key: then only the MoR knows whose method it saved, and a renewal may find none, or be charged on that of another customer.',
  },
  {
    calls: ['payment_intent.create'],
    status: 400,
    code: 'invalid_request',
    advice: "Amount, currency or the merchant's customer id is missing or malformed.",
  },
  {
    calls: intents,
    status: 404,
    code: 'tax_calculation_not_found',
    advice: 'The MoR knows no such calculation: calculate again and send the request again under a new key.',
  },
  {
    calls: [...intents, 'refund.create'],
    status: 409,
    code: 'idempotency_conflict',
    advice:
      'The key was used with another body: the first call stands, this one was not done, and the key is not changed.',
  },
  {
    calls: ['setup_intent.create'],
    status: 422,
    code: 'validation_error',
    advice: 'A payment method type is not enabled for this account at the MoR.',
  },
  {
    calls: ['payment_intent.create'],
    status: 422,
    code: 'unsupported_currency',
    advice: 'The currency is not enabled for this account at the MoR.',
  },
  {
    calls: ['payment_intent.create'],
    status: 422,
    code: 'amount_out_of_range',
    advice: "The amount is below the processor's minimum or above the account's cap for one payment.",
  },
  {
    calls: intents,
    status: 503,
    code: 'psp_unavailable',
    advice: "The MoR's processor is away; the same call is safe to send again under the same key.",
  },
  {
    calls: ['refund.create'],
    status: 400,
    code: 'invalid_request',
    advice: 'The amount is more than is left of the payment, or the currency differs: compare the known refunds first.',
  },
  {
    calls: ['refund.create'],
    status: 404,
    code: 'payment_not_found',
    advice: 'The MoR knows no such payment for this merchant.',
  },
  {
    calls: ['refund.create'],
    status: 422,
    code: 'payment_not_refundable',
    advice: 'The payment is fully refunded, never succeeded, or was charged back.',
  },
  {
    calls: ['invoice.read'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such payment or refund for this merchant, or not yet.',
  },
  {
    calls: ['payment_link.create'],
    status: 400,
    code: 'validation_error',
    advice: 'Correct the fields named.',
  },
  {
    calls: ['payment_link.create'],
    status: 409,
    code: 'no_active_arrangement',
    advice: 'The merchant has no active arrangement with the MoR for that jurisdiction.',
  },
  {
    calls: ['payment_link.create'],
    status: 409,
    code: 'unsupported_outpost_role',
    advice: 'The arrangement for that jurisdiction does not let the MoR collect the payment.',
  },
  {
    calls: ['payment_link.read'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such payment link for this merchant.',
  },
  {
    calls: ['e_invoice.read'],
    status: 400,
    code: 'invalid_argument',
    advice: 'The id is no uuid.',
  },
  {
    calls: ['e_invoice.read'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such e-invoice, or the invoice needs none.',
  },
  {
    calls: ['webhook.create'],
    status: 400,
    code: 'unknown_event',
    advice: 'The list of events is empty or names one that the MoR does not have.',
  },
  {
    calls: ['webhook.create'],
    status: 400,
    code: 'invalid_url',
    advice: 'The address must be https and resolve to a public address.',
  },
  {
    calls: ['webhook.create'],
    status: 409,
    code: 'webhook_endpoint_limit_exceeded',
    advice: 'Ten endpoints are active already: delete one first.',
  },
  {
    calls: ['webhook.delete'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such webhook endpoint for this merchant.',
  },
];

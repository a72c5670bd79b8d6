// Errors of Document 2 on proforma invoices.
import { type ErrorRow, type MorCallName } from './types.js';

const creates = ['proforma.create', 'proforma.from_calculation'] as const satisfies readonly MorCallName[];
const fromCalculation = { calls: ['proforma.from_calculation'] as const satisfies readonly MorCallName[] };

export const proformaErrors: readonly ErrorRow[] = [
  {
    calls: creates,
    status: 400,
    code: 'invalid_argument',
    advice: 'Correct the fields named; dueDate must not lie before issueDate.',
  },
  {
    calls: creates,
    status: 422,
    code: 'unsupported_jurisdiction',
    advice: 'The MoR does not issue proforma invoices in that jurisdiction.',
  },
  {
    calls: creates,
    status: 422,
    code: 'merchant_reference_conflict',
    advice: 'A live proforma invoice holds the reference: go on with that one, or delete it first.',
  },
  {
    calls: creates,
    status: 422,
    code: 'idempotency_key_reused',
    advice: 'The key was used for another request and nothing was created: submit under a new key.',
  },
  {
    ...fromCalculation,
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such calculation for this merchant: calculate again.',
  },
  {
    ...fromCalculation,
    status: 422,
    code: 'tax_calculation_already_used',
    advice: 'The calculation was used before: calculate again and submit under a new key.',
  },
  {
    ...fromCalculation,
    status: 422,
    code: 'tax_calculation_expired',
    advice: 'The calculation has expired: calculate again and submit under a new key.',
  },
  {
    ...fromCalculation,
    status: 422,
    code: 'tax_calculation_unusable',
    advice:
      'This calculation cannot become a proforma invoice: the errors name the reason; a calculation older than two hours is made again.',
  },
  {
    calls: creates, // stated for creation from a calculation; a direct create needs a settlement account as well
    status: 422,
    code: 'no_payment_destination',
    advice: "The MoR has no settlement account in the jurisdiction's currency: ask the MoR.",
  },
  {
    calls: creates,
    status: 422,
    code: 'nfse_validation_failed',
    advice: 'The recipient does not pass Brazilian e-invoicing checks: correct the fields named.',
  },
  {
    calls: ['proforma.read', 'proforma.document', 'proforma.delete'],
    status: 400,
    code: 'invalid_argument',
    advice: 'The id is no uuid.',
  },
  {
    calls: ['proforma.read', 'proforma.document', 'proforma.delete'],
    status: 404,
    code: 'not_found',
    advice: 'The MoR knows no such proforma invoice for this merchant; a deleted one is gone from all reads.',
  },
  {
    calls: ['proforma.document'],
    status: 409,
    code: 'issuance_failed',
    advice:
      'Issuance failed for good and there will be no document: create the proforma invoice again under a new key.',
  },
  {
    calls: ['proforma.delete'],
    status: 409,
    code: 'not_deletable',
    advice: 'The proforma invoice is issued and can only be cancelled at the MoR.',
  },
];

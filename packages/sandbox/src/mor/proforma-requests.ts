// Parses the bodies of the two requests that create a proforma invoice (Document 2).
import { type Money } from '../kernel/money.js';
import { isUuid } from './countries.js';
import { isExactIn, minorOf } from './decimals.js';
import { Fields } from './fields.js';

/** The fields both requests share. */
export type ProformaTerms = {
  readonly jurisdiction: string;
  readonly issueDate: string;
  readonly dueDate: string;
  readonly merchantReference: string | null;
};

export type DirectProforma = ProformaTerms & { readonly total: Money; readonly legalName: string };

export type ProformaFromCalculation = ProformaTerms & { readonly taxCalculationId: string };

function readTerms(fields: Fields, issueDate: string): ProformaTerms {
  const dueDate = fields.day('dueDate');
  if (issueDate !== '' && dueDate !== '' && dueDate < issueDate) fields.problem('dueDate', 'is before issueDate');
  fields.optionalTexts('notices')?.forEach((notice, index) => {
    if (notice.trim() === '') fields.problem(`notices[${index}]`, 'must not be blank');
  });
  const reference = fields.optionalText('merchantReference');
  if (reference?.trim() === '') fields.problem('merchantReference', 'must not be blank');
  return { jurisdiction: fields.country('jurisdiction'), issueDate, dueDate, merchantReference: reference ?? null };
}

/** Reads `{amount, currency}`. `positive`: refuses zero and less. */
function readMoney(fields: Fields | undefined, positive: boolean): Money {
  if (fields === undefined) return { minor: 0n, currency: '' };
  const amount = fields.decimal('amount');
  const currency = fields.currency('currency');
  if (positive && amount.digits <= 0n) fields.problem('amount', 'must be above 0');
  if (positive && currency !== '' && !isExactIn(amount, currency)) {
    fields.problem('amount', `has more decimals than ${currency}`);
  }
  return { minor: currency === '' ? 0n : minorOf(amount, 1n, currency), currency };
}

function readRecipient(fields: Fields | undefined): string {
  if (fields === undefined) return '';
  const address = fields.object('address');
  for (const name of ['line1', 'locality', 'postalCode']) address?.text(name);
  for (const name of ['line2', 'region']) address?.optionalText(name);
  address?.country('country');
  if (!fields.has('taxIdentifiers')) fields.problem('taxIdentifiers', 'is required');
  for (const identifier of fields.optionalObjects('taxIdentifiers')) {
    identifier.text('type');
    identifier.text('code');
    identifier.country('country');
  }
  fields.object('contact')?.text('email');
  return fields.text('legalName');
}

/** POST /api/proforma-invoices. Throws 400 `invalid_argument` with every wrong field. */
export function parseDirect(body: unknown): DirectProforma {
  const fields = Fields.of(body);
  const terms = readTerms(fields, fields.day('issueDate'));
  const provider = fields.object('provider');
  provider?.text('providerName');
  provider?.country('providerCountry');
  for (const line of fields.objects('lineItems')) {
    line.text('description');
    const quantity = line.decimal('quantity');
    if (quantity.digits <= 0n) line.problem('quantity', 'must be above 0');
    line.optionalText('unitOfMeasure');
    readMoney(line.object('unitPrice'), false);
    line.optionalArray('classifications');
  }
  const request = {
    ...terms,
    total: readMoney(fields.object('total'), true),
    legalName: readRecipient(fields.object('recipient')),
  };
  fields.problems.throwAs('invalid_argument');
  return request;
}

/** POST /api/proforma-invoices/from-tax-calculation. `today` (YYYY-MM-DD, UTC) replaces a missing issue date. */
export function parseFromCalculation(body: unknown, today: string): ProformaFromCalculation {
  const fields = Fields.of(body);
  const taxCalculationId = fields.text('taxCalculationId');
  if (taxCalculationId !== '' && !isUuid(taxCalculationId)) fields.problem('taxCalculationId', 'must be a uuid');
  const provider = fields.optionalObject('provider');
  provider?.text('providerName');
  provider?.optionalCountry('providerCountry');
  const request = { ...readTerms(fields, fields.optionalDay('issueDate') ?? today), taxCalculationId };
  fields.problems.throwAs('invalid_argument');
  return request;
}

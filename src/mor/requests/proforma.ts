// The requests for a proforma invoice (Document 2): made directly, or from a tax calculation.
import { type BrokenCondition, type Checked, checkRequest } from './check.js';
import { About, Country, Currency, Day, DecimalText, Filled, List, Nested, NestedList, Optional } from './rules.js';
import { PositiveDecimalText, Text, TextList, Uuid } from './rules.js';

export class ProformaAmount {
  @DecimalText() amount!: string;
  @Currency() currency!: string;
}

export class ProformaTotal {
  @PositiveDecimalText() amount!: string;
  @Currency() currency!: string;
}

export class ProformaAddress {
  @Filled() line1!: string;
  @Optional() @Text() line2?: string;
  @Filled() locality!: string;
  @Optional() @Text() region?: string;
  @Filled() postalCode!: string;
  @Country() country!: string;
}

export class ProformaTaxIdentifier {
  @Filled(64) type!: string;
  @Filled(64) code!: string;
  @Country() country!: string;
}

export class ProformaContact {
  @Filled(320) email!: string;
}

export class ProformaRecipient {
  @Filled() legalName!: string;
  @Nested(() => ProformaAddress) address!: ProformaAddress;
  @NestedList(() => ProformaTaxIdentifier, 0) taxIdentifiers!: ProformaTaxIdentifier[];
  @Nested(() => ProformaContact) contact!: ProformaContact;
}

export class ProformaProvider {
  @Filled() providerName!: string;
  @Country() providerCountry!: string;
}

/** From a calculation only the name is required. */
export class ProformaProviderName {
  @Filled() providerName!: string;
  @Optional() @Country() providerCountry?: string;
}

export class ProformaLine {
  @Filled() description!: string;
  @PositiveDecimalText() quantity!: string;
  @Optional() @Text() unitOfMeasure?: string;
  @Nested(() => ProformaAmount) unitPrice!: ProformaAmount;
  @About('The document does not show what an entry looks like.')
  @Optional()
  @List()
  classifications?: unknown[];
}

export class ProformaRequest {
  @Country() jurisdiction!: string;
  @Nested(() => ProformaTotal) total!: ProformaTotal;
  @Nested(() => ProformaRecipient) recipient!: ProformaRecipient;
  @Nested(() => ProformaProvider) provider!: ProformaProvider;
  @NestedList(() => ProformaLine, 1) lineItems!: ProformaLine[];
  @Day() issueDate!: string;
  @Day() dueDate!: string;
  @Optional() @TextList() notices?: string[];
  @About('Only one live proforma invoice may hold it.')
  @Optional()
  @Filled(255)
  merchantReference?: string;
}

export class ProformaFromCalculationRequest {
  @Uuid() taxCalculationId!: string;
  @Country() jurisdiction!: string;
  @About('Left out: today.')
  @Optional()
  @Day()
  issueDate?: string;
  @Day() dueDate!: string;
  @Optional() @Filled(255) merchantReference?: string;
  @Optional() @Nested(() => ProformaProviderName) provider?: ProformaProviderName;
  @Optional() @TextList() notices?: string[];
}

export function checkProforma(body: unknown): Checked<ProformaRequest> {
  return checkRequest(ProformaRequest, body, 'invalid_argument', dueAfterIssue);
}

/** Without an issue date the MoR takes its own today, so only the MoR can say whether the due date lies before it. */
export function checkProformaFromCalculation(body: unknown): Checked<ProformaFromCalculationRequest> {
  return checkRequest(ProformaFromCalculationRequest, body, 'invalid_argument', dueAfterIssue);
}

/** Stated for the creation from a calculation; a direct one that is due before it is issued is no less wrong. */
function dueAfterIssue(request: { issueDate?: string; dueDate: string }): BrokenCondition[] {
  const early = request.issueDate !== undefined && request.dueDate < request.issueDate;
  return early ? [{ field: 'dueDate', message: 'must not lie before issueDate' }] : [];
}

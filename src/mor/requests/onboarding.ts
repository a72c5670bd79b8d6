// The requests of Document 1 that a platform makes through the bridge.
import { type Checked, checkRequest } from './check.js';
import { About, Country, Filled, Flag, Nested, OneOf, Optional, Text, TextList, TextMap } from './rules.js';

const gmvTiers = [
  'UP_TO_100K',
  'FROM_100K_TO_250K',
  'FROM_250K_TO_500K',
  'FROM_500K_TO_1M',
  'FROM_1M_TO_10M',
  'FROM_10M_TO_50M',
  'FROM_50M_TO_100M',
  'FROM_100M_TO_250M',
  'FROM_250M_TO_500M',
  'FROM_500M_TO_1B',
] as const;

export class OnboardingAddress {
  @Filled() line1!: string;
  @Optional() @Text() line2?: string;
  @Filled() city!: string;
  @Optional() @Text() state?: string;
  @Filled() postalCode!: string;
  @Country() country!: string;
}

export class OnboardingCompany {
  @Filled() legalName!: string;
  @Optional() @Text() tradingName?: string;
  @Filled() website!: string;
  @Filled() taxId!: string;
  @Filled() registrationNumber!: string;
  @Country() jurisdiction!: string;
  @About('Any other value would be a malformed body to the MoR, answered 500.')
  @Optional()
  @OneOf(gmvTiers)
  gmvTier?: string;
  @Nested(() => OnboardingAddress) registeredAddress!: OnboardingAddress;
}

/** Shown to the reviewer, never acted on by itself. */
export class ComplianceSummary {
  @Optional() @Text() verificationStatus?: string;
  @Optional() @Text() riskLevel?: string;
  @Optional() @Country() countryOfIncorporation?: string;
  @Optional() @Flag() hasOpenComplianceFlags?: boolean;
}

/** Without `mode`: the bridge always sends `API`. */
export class InitiateRequest {
  @About('Unique per partner, permanent.')
  @Filled(255)
  merchantReference!: string;
  @About('Fixed once set. The MoR would store a misspelt code for good, so only the two that exist are let through.')
  @OneOf(['tor', 'mor'])
  productCode!: string;
  @Nested(() => OnboardingCompany) company!: OnboardingCompany;
  @Optional() @Text(2048) returnUrl?: string;
  @Optional() @Nested(() => ComplianceSummary) complianceSummary?: ComplianceSummary;
  @Optional() @TextMap() merchantContext?: Record<string, string>;
}

/** In the place of company details: they are not known, and never will be (Document 1, "What the service does", 6). */
export class BareMerchantRequest {
  @Filled(255) merchantReference!: string;
  @OneOf([true]) withoutCompany!: true;
  @Optional() @OneOf(['tor', 'mor']) productCode?: string;
}

/** One entry of `products` in PUT application. The code must repeat what was sent first, whatever that was. */
export class ProductChoice {
  @Filled(64) code!: string;
  @TextList(1) regions!: string[];
}

/** PATCH application: a field that is left out keeps its value. */
export class DescribeBusinessRequest {
  @Optional() @Text() businessDescription?: string;
  @Optional() @TextList() storeUrls?: string[];
  @Optional() @Text() category?: string;
}

export function checkInitiate(body: unknown): Checked<InitiateRequest> {
  return checkRequest(InitiateRequest, body, 'invalid_argument');
}

export function checkBareMerchant(body: unknown): Checked<BareMerchantRequest> {
  return checkRequest(BareMerchantRequest, body, 'validation_error');
}

export function checkProductChoice(body: unknown): Checked<ProductChoice> {
  return checkRequest(ProductChoice, body, 'validation_error');
}

export function checkDescribeBusiness(body: unknown): Checked<DescribeBusinessRequest> {
  return checkRequest(DescribeBusinessRequest, body, 'validation_error');
}

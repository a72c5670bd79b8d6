// The requests of Document 1, field by field.
import {
  about,
  country,
  filled,
  flag,
  oneOf,
  optional,
  shape,
  text,
  textList,
  textMap,
  type ValueOf,
} from '../shape.js';

const productCode = oneOf('tor', 'mor');

const gmvTier = oneOf(
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
);

const address = shape('OnboardingAddress', {
  line1: filled(),
  line2: optional(text()),
  city: filled(),
  state: optional(text()),
  postalCode: filled(),
  country,
});

const company = shape('OnboardingCompany', {
  legalName: filled(),
  tradingName: optional(text()),
  website: filled(),
  taxId: filled(),
  registrationNumber: filled(),
  jurisdiction: country,
  gmvTier: about('Any other value would be a malformed body to the MoR, answered 500.', optional(gmvTier)),
  registeredAddress: address,
});

/** The MoR shows this summary to its reviewer, and does nothing else with it. */
const complianceSummary = shape('ComplianceSummary', {
  verificationStatus: optional(text()),
  riskLevel: optional(text()),
  countryOfIncorporation: optional(country),
  hasOpenComplianceFlags: optional(flag),
});

/** The caller gives no `mode`: the client always sends `API`. */
export const initiateRequest = shape('InitiateRequest', {
  merchantReference: about('Unique per partner, permanent.', filled(255)),
  productCode: about(
    'Fixed once set. The MoR would store a misspelt code for good, so only the two that exist are let through.',
    productCode,
  ),
  company,
  returnUrl: optional(text(2048)),
  complianceSummary: optional(complianceSummary),
  merchantContext: optional(textMap),
}).like({
  merchantReference: 'shop-1',
  productCode: 'mor',
  company: {
    legalName: 'Shop Ltd',
    website: 'https://shop.example',
    taxId: 'GB123456789',
    registrationNumber: '01234567',
    jurisdiction: 'GB',
    registeredAddress: { line1: '1 High Street', city: 'London', postalCode: 'N1 1AA', country: 'GB' },
  },
});
export type InitiateRequest = ValueOf<typeof initiateRequest>;

/** A merchant without company details. Nobody can add them later (Document 1, "What the service does", 6). */
export const bareMerchantRequest = shape(
  'BareMerchantRequest',
  { merchantReference: filled(255), withoutCompany: oneOf(true), productCode: optional(productCode) },
  'validation_error',
);

/**
 * One entry of `products` in PUT application. The MoR accepts only the code of the first request, even if that code was
 * wrong.
 */
export const productChoice = shape(
  'ProductChoice',
  { code: filled(64), regions: textList(1) },
  'validation_error',
).like({ code: 'tor', regions: ['EU'] });
export type ProductChoice = ValueOf<typeof productChoice>;

/** PATCH application: a missing field keeps its value. */
export const describeBusinessRequest = shape(
  'DescribeBusinessRequest',
  { businessDescription: optional(text()), storeUrls: optional(textList()), category: optional(text()) },
  'validation_error',
).like({ businessDescription: 'Software for bakers', storeUrls: ['https://shop.example'] });
export type DescribeBusinessRequest = ValueOf<typeof describeBusinessRequest>;

// The requests of Document 2 for proforma invoices, payment links and webhook endpoints, field by field.
import {
  about,
  country,
  currency,
  day,
  decimalText,
  filled,
  list,
  listOf,
  optional,
  positiveDecimalText,
  shape,
  text,
  textList,
  uuid,
  type ValueOf,
  wholeNumber,
} from '../shape.js';

const address = shape('ProformaAddress', {
  line1: filled(),
  line2: optional(text()),
  locality: filled(),
  region: optional(text()),
  postalCode: filled(),
  country,
});

export const proformaRecipient = shape('ProformaRecipient', {
  legalName: filled(),
  address,
  taxIdentifiers: listOf(shape('ProformaTaxIdentifier', { type: filled(64), code: filled(64), country }), 0),
  contact: shape('ProformaContact', { email: filled(320) }),
});

export const proformaProvider = shape('ProformaProvider', { providerName: filled(), providerCountry: country });

const line = shape('ProformaLine', {
  description: filled(),
  quantity: positiveDecimalText,
  unitOfMeasure: optional(text()),
  unitPrice: shape('ProformaAmount', { amount: decimalText, currency }),
  classifications: about('The document does not show what an entry looks like.', optional(list)),
});

export const proformaRequest = shape('ProformaRequest', {
  jurisdiction: country,
  total: shape('ProformaTotal', { amount: positiveDecimalText, currency }),
  recipient: proformaRecipient,
  provider: proformaProvider,
  lineItems: listOf(line, 1),
  issueDate: day,
  dueDate: day,
  notices: optional(textList()),
  merchantReference: about('Only one live proforma invoice may hold it.', optional(filled(255))),
});
export type ProformaRequest = ValueOf<typeof proformaRequest>;

export const proformaFromCalculationRequest = shape('ProformaFromCalculationRequest', {
  taxCalculationId: uuid,
  jurisdiction: country,
  issueDate: about('Left out: today.', optional(day)),
  dueDate: day,
  merchantReference: optional(filled(255)),
  provider: optional(shape('ProformaProviderName', { providerName: filled(), providerCountry: optional(country) })),
  notices: optional(textList()),
});
export type ProformaFromCalculationRequest = ValueOf<typeof proformaFromCalculationRequest>;

/** The body of a payment link, as `paymentLinkBody` makes it. */
export const paymentLinkRequest = shape(
  'PaymentLinkRequest',
  {
    jurisdiction: country,
    amount: shape('PaymentLinkAmount', { amount: positiveDecimalText, currency }),
    returnUrl: filled(2048),
    idempotencyKey: filled(255),
    expiresIn: optional(wholeNumber(1, 31_536_000)),
  },
  'validation_error',
);

export const webhookEndpointRequest = shape(
  'WebhookEndpointRequest',
  {
    url: filled(2048),
    events: about("At least one, each of Document 2's.", textList()),
    description: optional(text(1024)),
  },
  'validation_error',
).like({ url: 'https://billing.example/webhooks/mor/events', events: ['payment.captured'] });
export type WebhookEndpointRequest = ValueOf<typeof webhookEndpointRequest>;

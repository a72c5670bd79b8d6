// The MoR's own shapes within the requests and replies of our routes.
import {
  bareMerchantRequest,
  catalogueProductRequest,
  describeBusinessRequest,
  initiateRequest,
  productChoice,
  proformaProvider,
  proformaRecipient,
  taxCalculationRequest,
  taxCustomer,
  taxEvidence,
  taxRefundRequest,
  taxTransactionRequest,
  webhookEndpointRequest,
} from '@crossbill/mor';

/**
 * The caller can leave out any of these fields. Crossbill then takes the field from Stripe, and checks the complete
 * request against the MoR's own shape.
 */
export const providerPart = proformaProvider.partial('ProviderPart');
export const recipientPart = proformaRecipient.partial('RecipientPart');
/** The customer's details, as the MoR repeats them in its reply. */
export const echoedCustomer = taxCustomer.partial('EchoedCustomer');
export const echoedEvidence = taxEvidence.partial('EchoedEvidence');

export const MOR_SHAPES = [
  bareMerchantRequest,
  catalogueProductRequest,
  describeBusinessRequest,
  echoedCustomer,
  echoedEvidence,
  initiateRequest,
  productChoice,
  providerPart,
  recipientPart,
  taxCalculationRequest,
  taxRefundRequest,
  taxTransactionRequest,
  webhookEndpointRequest,
];

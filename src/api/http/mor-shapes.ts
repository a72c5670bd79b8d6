// The MoR's own shapes among the routes' requests and answers.
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

/** The caller's part of them; the rest comes from Stripe. Checked as a whole, by the shape of the MoR's request. */
export const providerPart = proformaProvider.partial('ProviderPart');
export const recipientPart = proformaRecipient.partial('RecipientPart');
/** As the MoR repeats its input. */
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

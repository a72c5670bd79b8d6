// The parser of each answer, by name. With these parsers a program's tests can check their invented answers.
import { parseApplication } from './applications.js';
import { parsePaymentIntent, parseSetupIntent } from './card-intents.js';
import { parseEInvoice } from './e-invoices.js';
import { parseFileLink } from './file-link.js';
import { parseInvoiceFile } from './invoices.js';
import { parseInitiated, parsePartner, parseRegion } from './partner-api.js';
import { parseMerchantDetail, parseMerchantListItem } from './partner-merchants.js';
import { parsePaymentLink } from './payment-links.js';
import { parseProformaInvoice } from './proforma-invoices.js';
import { parseListOf } from './read.js';
import { parseRefund } from './refunds.js';
import { parseTaxCalculation } from './tax-calculations.js';
import {
  parseTaxRefund,
  parseTaxTransaction,
  parseTaxTransactionPage,
  parseTransactionInvoice,
} from './tax-transactions.js';
import { parseWebhookEndpointCreated } from './webhook-endpoints.js';

export const MOR_PARSERS: Readonly<Record<string, (value: unknown) => unknown>> = {
  partner: parsePartner,
  regions: (value) => parseListOf(value, 'regions', parseRegion),
  initiated: parseInitiated,
  merchants: (value) => parseListOf(value, 'merchants', parseMerchantListItem),
  merchant: parseMerchantDetail,
  application: parseApplication,
  'tax-calculation': parseTaxCalculation,
  'tax-transaction': parseTaxTransaction,
  'tax-transactions': parseTaxTransactionPage,
  'tax-refund': parseTaxRefund,
  'transaction-invoice': parseTransactionInvoice,
  'proforma-invoice': parseProformaInvoice,
  'proforma-document': (value) => parseFileLink(value, ''),
  'invoice-file': parseInvoiceFile,
  'payment-link': parsePaymentLink,
  'e-invoice': parseEInvoice,
  'webhook-endpoint': parseWebhookEndpointCreated,
  'setup-intent': parseSetupIntent,
  'payment-intent': parsePaymentIntent,
  refund: parseRefund,
};

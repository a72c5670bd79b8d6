// How an answer of the MoR is read, by the name of its example in test/wire/mor.
import { parseApplication } from '#src/mor/applications.js';
import { parsePaymentIntent, parseSetupIntent } from '#src/mor/card-intents.js';
import { parseEInvoice } from '#src/mor/e-invoices.js';
import { parseFileLink } from '#src/mor/file-link.js';
import { parseInvoiceFile } from '#src/mor/invoices.js';
import { parseMerchantDetail, parseMerchantListItem } from '#src/mor/partner-merchants.js';
import { parseInitiated, parsePartner, parseRegion } from '#src/mor/partner.js';
import { parsePaymentLink } from '#src/mor/payment-links.js';
import { parseProformaInvoice } from '#src/mor/proforma-invoices.js';
import { parseListOf } from '#src/mor/read.js';
import { parseRefund } from '#src/mor/refunds.js';
import { parseTaxCalculation } from '#src/mor/tax-calculations.js';
import {
  parseTaxRefund,
  parseTaxTransaction,
  parseTaxTransactionPage,
  parseTransactionInvoice,
} from '#src/mor/tax-transactions.js';
import { parseWebhookEndpointCreated } from '#src/mor/webhook-endpoints.js';

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

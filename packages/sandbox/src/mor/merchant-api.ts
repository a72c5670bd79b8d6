// Document 2 as one plug-in: creates its parts and joins them.
import { derivedSecret } from '../kernel/random.js';
import { type Kernel } from '../kernel/kernel.js';
import { addCatalogue } from './catalogue.js';
import { EInvoices, addEInvoices } from './e-invoices.js';
import { addEventControl } from './event-control.js';
import { EVENT_TYPES } from './event-types.js';
import { InvoiceFiles, addFiles } from './invoice-files.js';
import { addInvoices } from './invoices.js';
import { Issuance } from './issuance.js';
import { PaymentLinks, addPaymentLinks } from './payment-links.js';
import { Proformas } from './proforma-invoices.js';
import { addProformas } from './proforma-routes.js';
import { type ChannelBooks, type MorState } from './state.js';
import { Calculations, addTaxCalculations } from './tax-calculations.js';
import { addTaxRefunds } from './tax-refunds.js';
import { TaxTransactions, addTaxTransactions } from './tax-transactions.js';
import { WebhookEndpoints, addWebhookEndpoints } from './webhook-endpoints.js';

/** Adds every route of Document 2. Puts functions into `mor`, so the sandbox's other routes can call them. */
export function addMerchantApi(kernel: Kernel, mor: MorState): void {
  const files = new InvoiceFiles(kernel, mor);
  const issuance = new Issuance(kernel);
  const endpoints = new WebhookEndpoints(kernel, mor);
  const eInvoices = new EInvoices(kernel, issuance, files, endpoints);
  const calculations = new Calculations(kernel, mor);
  const transactions = new TaxTransactions(kernel, mor, calculations);
  const proformas = new Proformas(kernel, mor, calculations, issuance, eInvoices, endpoints);
  const links = new PaymentLinks(kernel, mor, eInvoices, endpoints);

  addTaxCalculations(kernel, mor, calculations);
  addTaxTransactions(kernel, mor, transactions, files);
  addTaxRefunds(kernel, mor, transactions);
  addCatalogue(kernel, mor);
  addProformas(kernel, mor, proformas, files);
  addInvoices(kernel, mor, files);
  addPaymentLinks(kernel, mor, links);
  addEInvoices(kernel, mor, eInvoices);
  addWebhookEndpoints(kernel, mor, endpoints);
  addEventControl(kernel, mor, endpoints);
  addFiles(kernel, files);

  mor.registerEventWebhook = (url) =>
    endpoints.register('main', url, EVENT_TYPES, eventWebhookSecret(kernel.seed)).secret;
  mor.channelBooks = () => booksOf(proformas, links);
  mor.paymentCaptured = (payment) => {
    if (payment.taxCalculationId !== null) links.announceCapture('main', payment); // the event names the calculation
  };
}

function booksOf(proformas: Proformas, links: PaymentLinks): ChannelBooks {
  return {
    proformas: proformas.list().map(({ id, merchantReference: reference, status, total, received }) => {
      return { id, reference, status, currency: total.currency, total: total.minor, received };
    }),
    links: links.list().map(({ id, idempotencyKey, amount, createdAtMs, expiresAtMs, paidAtMs, paymentIds }) => ({
      id,
      idempotencyKey,
      amount: amount.minor,
      createdAtMs,
      openUntilMs: paidAtMs ?? expiresAtMs,
      paymentIds: [...paymentIds],
    })),
  };
}

/** The secret of the built-in event endpoint, printed with the settings. */
function eventWebhookSecret(seed: string): string {
  return derivedSecret(seed, 'event-webhook', 'whsec_');
}

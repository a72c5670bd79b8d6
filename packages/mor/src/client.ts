// The client: one transport for the calls of the three documents, and one object for each kind of resource.
import { Applications } from './applications.js';
import { CardIntents } from './card-intents.js';
import { Catalogue } from './catalogue.js';
import { EInvoices } from './e-invoices.js';
import { Invoices } from './invoices.js';
import { DEFAULT_PSP, type MorOptions } from './options.js';
import { PartnerApi } from './partner-api.js';
import { PartnerMerchants } from './partner-merchants.js';
import { PaymentLinks } from './payment-links.js';
import { ProformaInvoices } from './proforma-invoices.js';
import { Refunds } from './refunds.js';
import { TaxCalculations } from './tax-calculations.js';
import { TaxTransactions } from './tax-transactions.js';
import { MorTransport } from './transport.js';
import { WebhookEndpoints } from './webhook-endpoints.js';

export class MorClient {
  readonly transport: MorTransport;
  // Document 1
  readonly partner: PartnerApi;
  readonly merchants: PartnerMerchants;
  readonly applications: Applications;
  // Document 2
  readonly taxCalculations: TaxCalculations;
  readonly taxTransactions: TaxTransactions;
  readonly catalogue: Catalogue;
  readonly proformaInvoices: ProformaInvoices;
  readonly invoices: Invoices;
  readonly paymentLinks: PaymentLinks;
  readonly eInvoices: EInvoices;
  readonly webhookEndpoints: WebhookEndpoints;
  // Document 3
  readonly intents: CardIntents;
  readonly refunds: Refunds;

  constructor(options: MorOptions) {
    const transport = (this.transport = new MorTransport(options));
    const { psp = DEFAULT_PSP, setupCustomer = 'send' } = options;
    this.partner = new PartnerApi(transport);
    this.merchants = new PartnerMerchants(transport);
    this.applications = new Applications(transport);
    this.taxCalculations = new TaxCalculations(transport);
    this.taxTransactions = new TaxTransactions(transport);
    this.catalogue = new Catalogue(transport);
    this.proformaInvoices = new ProformaInvoices(transport);
    this.invoices = new Invoices(transport);
    this.paymentLinks = new PaymentLinks(transport);
    this.eInvoices = new EInvoices(transport);
    this.webhookEndpoints = new WebhookEndpoints(transport);
    this.intents = new CardIntents(transport, { psp, setupCustomer });
    this.refunds = new Refunds(transport);
  }

  /** Ends every connection. */
  close(): Promise<void> {
    return this.transport.close();
  }
}

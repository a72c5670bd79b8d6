// The way to the MoR as a Nest module: each part of its API, and the domain's ports on top of them.
import { Module, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG } from '../config/index.js';
import { MorLookups } from './mor-lookups.js';
import { MorChannels } from '../domain/ports/mor-channels.js';
import { PartnerDesk } from './mor-partner-desk.js';
import { TaxDesk } from '../domain/ports/tax.js';
import { EventRelay, PaymentGateway } from '../domain/ports/payment-gateway.js';
import { ON_CALL } from '../observe/index.js';
import { Applications } from './applications.js';
import { CardIntents } from './card-intents.js';
import { Catalogue } from './catalogue.js';
import { EInvoices } from './e-invoices.js';
import { HttpMorChannels } from './mor-channels.js';
import { HttpEventRelay } from './event-relay.js';
import { Invoices } from './invoices.js';
import { MorTaxDesk } from './mor-tax-desk.js';
import { MorPaymentGateway } from './mor-payment-gateway.js';
import { MOR_OPTIONS } from './options.js';
import { morOptions } from './options-from-settings.js';
import { PartnerMerchants } from './partner-merchants.js';
import { PartnerApi } from './partner.js';
import { PaymentLinks } from './payment-links.js';
import { ProformaInvoices } from './proforma-invoices.js';
import { Refunds } from './refunds.js';
import { TaxCalculations } from './tax-calculations.js';
import { TaxTransactions } from './tax-transactions.js';
import { MorTransport } from './transport.js';
import { WebhookEndpoints } from './webhook-endpoints.js';

/** The MoR's API by its parts. */
const RESOURCES = [
  PartnerApi,
  PartnerMerchants,
  Applications,
  TaxCalculations,
  TaxTransactions,
  Catalogue,
  ProformaInvoices,
  Invoices,
  PaymentLinks,
  EInvoices,
  WebhookEndpoints,
  CardIntents,
  Refunds,
];

@Module({
  providers: [
    { provide: MOR_OPTIONS, useFactory: morOptions, inject: [CONFIG, ON_CALL] },
    MorTransport,
    ...RESOURCES,
    { provide: PaymentGateway, useClass: MorPaymentGateway },
    { provide: MorChannels, useClass: HttpMorChannels },
    MorLookups,
    { provide: TaxDesk, useClass: MorTaxDesk },
    PartnerDesk,
    HttpEventRelay,
    { provide: EventRelay, useExisting: HttpEventRelay },
  ],
  exports: [PaymentGateway, MorChannels, MorLookups, PartnerDesk, TaxDesk, EventRelay, ...RESOURCES],
})
export class MorModule implements OnApplicationShutdown {
  constructor(
    private readonly transport: MorTransport,
    private readonly relay: HttpEventRelay,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.transport.close(), this.relay.close()]);
  }
}

// The MoR as a Nest module: each part of its API, and the domain's ports on top.
import {
  Applications,
  CardIntents,
  Catalogue,
  EInvoices,
  Invoices,
  MorClient,
  PartnerApi,
  PartnerMerchants,
  PaymentLinks,
  ProformaInvoices,
  Refunds,
  TaxCalculations,
  TaxTransactions,
  WebhookEndpoints,
} from '@crossbill/mor';
import { type FactoryProvider, Module, type OnApplicationShutdown } from '@nestjs/common';
import { CONFIG } from '../../shared/config/index.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import { MorLookups } from './mor-lookups.js';
import { MorChannels } from '../../shared/domain/ports/mor-channels.js';
import { TaxClient } from '../../shared/domain/ports/tax.js';
import { EventRelay, PaymentGateway } from '../../shared/domain/ports/payment-gateway.js';
import { ON_CALL } from '../../shared/observe/index.js';
import { HttpMorChannels } from './mor-channels.js';
import { HttpEventRelay } from './event-relay.js';
import { MorTaxClient } from './mor-tax-client.js';
import { MorPaymentGateway } from './mor-payment-gateway.js';
import { MOR_OPTIONS, morClient } from './options.js';
import { morOptions } from './options-from-settings.js';

/** Makes the Nest provider of one part of the MoR's API. */
function part<T>(type: new (...args: never[]) => T, of: (client: MorClient) => T): FactoryProvider<T> {
  return { provide: type, useFactory: of, inject: [MorClient] };
}

const RESOURCES = [
  part(PartnerApi, (mor) => mor.partner),
  part(PartnerMerchants, (mor) => mor.merchants),
  part(Applications, (mor) => mor.applications),
  part(TaxCalculations, (mor) => mor.taxCalculations),
  part(TaxTransactions, (mor) => mor.taxTransactions),
  part(Catalogue, (mor) => mor.catalogue),
  part(ProformaInvoices, (mor) => mor.proformaInvoices),
  part(Invoices, (mor) => mor.invoices),
  part(PaymentLinks, (mor) => mor.paymentLinks),
  part(EInvoices, (mor) => mor.eInvoices),
  part(WebhookEndpoints, (mor) => mor.webhookEndpoints),
  part(CardIntents, (mor) => mor.intents),
  part(Refunds, (mor) => mor.refunds),
];

@Module({
  providers: [
    { provide: MOR_OPTIONS, useFactory: morOptions, inject: [CONFIG, ON_CALL] },
    { provide: MorClient, useFactory: morClient, inject: [MOR_OPTIONS, Clock] },
    ...RESOURCES,
    { provide: PaymentGateway, useClass: MorPaymentGateway },
    { provide: MorChannels, useClass: HttpMorChannels },
    MorLookups,
    { provide: TaxClient, useClass: MorTaxClient },
    HttpEventRelay,
    { provide: EventRelay, useExisting: HttpEventRelay },
  ],
  exports: [PaymentGateway, MorChannels, MorLookups, TaxClient, EventRelay, ...RESOURCES],
})
export class MorModule implements OnApplicationShutdown {
  constructor(
    private readonly client: MorClient,
    private readonly relay: HttpEventRelay,
  ) {}

  async onApplicationShutdown(): Promise<void> {
    await Promise.all([this.client.close(), this.relay.close()]);
  }
}

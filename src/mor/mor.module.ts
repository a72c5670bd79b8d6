// Joins the MoR's client to the application. Expects `MOR_OPTIONS` and `Clock` from a global module.
import { type FactoryProvider, Module, type OnApplicationShutdown } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { MorLookups } from '../domain/ports/loss.js';
import { MorChannels } from '../domain/ports/mor-channels.js';
import { PartnerDesk } from '../domain/ports/onboarding.js';
import { TaxDesk } from '../domain/ports/tax.js';
import { EventRelay, PaymentGateway } from '../domain/ports/payment-gateway.js';
import { Applications } from './applications.js';
import { CardIntents } from './card-intents.js';
import { Catalogue } from './catalogue.js';
import { EInvoices } from './e-invoices.js';
import { HttpMorChannels } from './mor-channels.js';
import { HttpEventRelay } from './event-relay.js';
import { Invoices } from './invoices.js';
import { MorPartnerDesk } from './mor-partner-desk.js';
import { MorTaxDesk } from './mor-tax-desk.js';
import { HttpMorLookups } from './mor-lookups.js';
import { MorPaymentGateway } from './mor-payment-gateway.js';
import { MOR_OPTIONS, type MorOptions } from './options.js';
import { PartnerMerchants } from './partner-merchants.js';
import { PartnerApi } from './partner.js';
import { PaymentLinks } from './payment-links.js';
import { ProformaInvoices } from './proforma-invoices.js';
import { Refunds } from './refunds.js';
import { TaxCalculations } from './tax-calculations.js';
import { TaxTransactions } from './tax-transactions.js';
import { MorTransport } from './transport.js';
import { WebhookEndpoints } from './webhook-endpoints.js';

type Resource = new (transport: MorTransport, clock: Clock) => object;

const resources: readonly Resource[] = [
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

const providers: FactoryProvider[] = [
  {
    provide: MorTransport,
    inject: [MOR_OPTIONS, Clock],
    useFactory: (options: MorOptions, clock: Clock) => new MorTransport(options, clock),
  },
  ...resources.map((type) => ({
    provide: type,
    inject: [MorTransport, Clock],
    useFactory: (transport: MorTransport, clock: Clock) => new type(transport, clock),
  })),
  {
    provide: PaymentGateway,
    inject: [MOR_OPTIONS, CardIntents, Refunds, Invoices],
    useFactory: (options: MorOptions, intents: CardIntents, refunds: Refunds, invoices: Invoices) =>
      new MorPaymentGateway(options.psp, intents, refunds, invoices),
  },
  {
    provide: MorChannels,
    inject: [ProformaInvoices, PaymentLinks],
    useFactory: (proformas: ProformaInvoices, links: PaymentLinks) => new HttpMorChannels(proformas, links),
  },
  { provide: MorLookups, inject: [Invoices], useFactory: (invoices: Invoices) => new HttpMorLookups(invoices) },
  {
    provide: TaxDesk,
    inject: [TaxCalculations, TaxTransactions],
    useFactory: (calculations: TaxCalculations, transactions: TaxTransactions) =>
      new MorTaxDesk(calculations, transactions),
  },
  {
    provide: PartnerDesk,
    inject: [PartnerApi, PartnerMerchants, Applications],
    useFactory: (partner: PartnerApi, merchants: PartnerMerchants, applications: Applications) =>
      new MorPartnerDesk(partner, merchants, applications),
  },
  {
    provide: HttpEventRelay,
    inject: [MOR_OPTIONS, Clock],
    useFactory: (options: MorOptions, clock: Clock) => new HttpEventRelay(options, clock),
  },
  { provide: EventRelay, inject: [HttpEventRelay], useFactory: (relay: HttpEventRelay) => relay },
];

@Module({
  providers,
  exports: [PaymentGateway, MorChannels, MorLookups, PartnerDesk, TaxDesk, EventRelay, ...resources],
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

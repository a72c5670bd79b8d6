// The module of the whole daemon. This file alone knows every other module.
import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { ApiModule } from './api/api.module.js';
import { AuditModule } from './audit/audit.module.js';
import { CONFIG, type Config, ConfigModule } from './config/index.js';
import { ConsoleModule } from './console/console.module.js';
import { CustomersModule } from './customers/customers.module.js';
import { DecisionsModule } from './decisions/decisions.module.js';
import { DisputesModule } from './disputes/disputes.module.js';
import { DocumentsModule } from './documents/documents.module.js';
import { EnrolmentModule } from './enrolment/enrolment.module.js';
import { EventsModule } from './events/events.module.js';
import { HealthModule } from './health/health.module.js';
import { IntakeModule } from './intake/intake.module.js';
import { EngineModule } from './engine/engine.module.js';
import { LedgerModule } from './ledger/ledger.module.js';
import { LinksModule } from './links/links.module.js';
import { RetriesModule } from './retries/retries.module.js';
import { MorModule } from './mor/mor.module.js';
import { MovesModule } from './moves/moves.module.js';
import { NotificationsModule } from './notifications/notifications.module.js';
import { type Logger, type Metrics, ObserveModule, ON_CALL } from './observe/index.js';
import { OnboardingModule } from './onboarding/onboarding.module.js';
import { OverviewModule } from './overview/overview.module.js';
import { RefundsModule } from './refunds/refunds.module.js';
import { PaymentsModule } from './payments/payments.module.js';
import { InvoicesModule } from './invoices/invoices.module.js';
import { ReviewsModule } from './reviews/reviews.module.js';
import { SignupsModule } from './signups/signups.module.js';
import { ReturnsModule } from './returns/returns.module.js';
import { type Database } from './store/database.js';
import { StoreModule } from './store/store.module.js';
import { stripeOptions } from './stripe/options-from-settings.js';
import { StripeModule } from './stripe/stripe.module.js';
import { SystemModule } from './engine/system-ports.js';
import { TaxModule } from './tax/tax.module.js';
import { TransfersModule } from './transfers/transfers.module.js';
import { VerifyModule } from './verify/verify.module.js';
import { WebhookEndpointsModule } from './events/webhook-endpoints.module.js';

export type AppParts = {
  readonly config: Config;
  /** An open database with a current schema. The application closes it when it stops. */
  readonly db: Database;
  readonly log: Logger;
  readonly metrics: Metrics;
};

@Module({})
export class AppModule {
  /** Builds the module of the daemon, with the scheduled jobs. */
  static of(parts: AppParts): DynamicModule {
    const { imports = [], ...rest } = AppModule.withoutJobs(parts);
    return { ...rest, imports: [ScheduleModule.forRoot(), ...imports] };
  }

  /** Builds the same module without scheduled jobs, for the command line. */
  static withoutJobs({ config, db, log, metrics }: AppParts): DynamicModule {
    return {
      module: AppModule,
      imports: [
        // Providers every module may inject.
        ConfigModule.of(config),
        ObserveModule.of(log, metrics),
        SystemModule,
        StoreModule.of(db),
        StripeModule.registerAsync({ useFactory: stripeOptions, inject: [CONFIG, ON_CALL] }),
        // Shared modules. Only DecisionsModule knows the rules of signups, invoices, refunds and so on.
        MorModule,
        EngineModule,
        DecisionsModule, // gives these rules to the engine
        IntakeModule,
        ApiModule,
        ConsoleModule,
        // One module for each noun of the product. Their routes appear in the API reference in this order.
        SignupsModule,
        CustomersModule,
        MovesModule,
        InvoicesModule,
        PaymentsModule,
        RefundsModule,
        EventsModule,
        ReviewsModule,
        LedgerModule,
        AuditModule,
        VerifyModule,
        NotificationsModule,
        HealthModule,
        ReturnsModule,
        TaxModule,
        WebhookEndpointsModule,
        OnboardingModule,
        TransfersModule,
        LinksModule,
        RetriesModule,
        DocumentsModule,
        DisputesModule,
        EnrolmentModule,
        OverviewModule, // last: its catch-all route answers unknown console pages
      ],
    };
  }
}

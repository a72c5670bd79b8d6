// The module of the whole daemon. This file alone knows every module of the core, and the list of features.
import { type DynamicModule, Module } from '@nestjs/common';
import { ScheduleModule } from '@nestjs/schedule';
import { type Webhooks } from './frames/api/http/openapi.js';
import { ApiModule } from './frames/api/api.module.js';
import { AuditModule } from './core/audit/audit.module.js';
import { CONFIG, type Config, ConfigModule } from './shared/config/index.js';
import { ConsoleModule } from './frames/console/console.module.js';
import { CustomersModule } from './core/customers/customers.module.js';
import { DecisionsModule } from './core/lanes/decisions.module.js';
import { EventsModule } from './core/events/events.module.js';
import { loadSlot } from './feature.js';
import { FEATURES } from './features.js';
import { HealthModule } from './core/health/health.module.js';
import { IntakeModule } from './frames/intake/intake.module.js';
import { EngineModule } from './engine/engine.module.js';
import { LedgerModule } from './core/ledger/ledger.module.js';
import { MorModule } from './frames/mor/mor.module.js';
import { type Logger, type Metrics, ObserveModule, ON_CALL } from './shared/observe/index.js';
import { RefundsModule } from './core/refunds/refunds.module.js';
import { PaymentsModule } from './core/payments/payments.module.js';
import { InvoicesModule } from './core/invoices/invoices.module.js';
import { ReviewsModule } from './core/reviews/reviews.module.js';
import { SignupsModule } from './core/signups/signups.module.js';
import { type Database } from './frames/store/database.js';
import { StoreModule } from './frames/store/store.module.js';
import { stripeOptions } from './frames/stripe/options-from-settings.js';
import { StripeModule } from './frames/stripe/stripe.module.js';
import { SystemModule } from './engine/system-ports.js';
import { WebhookEndpointsModule } from './core/events/webhook-endpoints.module.js';

const OF_FEATURES = (await loadSlot(FEATURES, 'modules')).flat();

/** The webhooks that Crossbill sends, for the OpenAPI document. */
export const WEBHOOKS: Webhooks = Object.assign({}, ...(await loadSlot(FEATURES, 'webhooks'))) as Webhooks;

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
        // One module for each noun of the core, then the features. Their routes appear in the API reference in this order.
        SignupsModule,
        CustomersModule,
        InvoicesModule,
        PaymentsModule,
        RefundsModule,
        EventsModule,
        ReviewsModule,
        LedgerModule,
        AuditModule,
        HealthModule,
        WebhookEndpointsModule,
        ...OF_FEATURES.map((module) => module.of?.(config) ?? module),
      ],
    };
  }
}

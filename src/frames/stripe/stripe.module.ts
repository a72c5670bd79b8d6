// The Nest module of Stripe. It exports the ports but not the client.
import {
  Global,
  Module,
  type DynamicModule,
  type FactoryProvider,
  type ModuleMetadata,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { BillingMoves } from '../../shared/domain/ports/billing-moves.js';
import { BillingPlatform } from '../../shared/domain/ports/billing-platform.js';
import { BillingReader } from '../../shared/domain/ports/billing-reader.js';
import { RequestBudget } from '../../shared/domain/ports/request-budget.js';
import { StripeBillingPlatform } from './stripe-billing-platform.js';
import { StripeBillingReader } from './stripe-billing-reader.js';
import { StripeClient } from './stripe-client.js';
import { StripeMoves } from './stripe-moves.js';
import { StripeOptions } from './stripe-options.js';

/** Closes the sockets after every caller of Stripe has stopped. */
class StripeSockets implements OnApplicationShutdown {
  constructor(private readonly client: StripeClient) {}

  onApplicationShutdown(): void {
    this.client.close();
  }
}

@Global()
@Module({})
export class StripeModule {
  /** `imports` must provide every token of `inject`, and a `RequestBudget` unless a global module provides one. */
  static registerAsync(setup: {
    readonly imports?: NonNullable<ModuleMetadata['imports']>;
    readonly inject?: NonNullable<FactoryProvider['inject']>;
    readonly useFactory: FactoryProvider<StripeOptions>['useFactory'];
  }): DynamicModule {
    return {
      module: StripeModule,
      imports: setup.imports ?? [],
      providers: [
        { provide: StripeOptions, useFactory: setup.useFactory, inject: setup.inject ?? [] },
        {
          provide: StripeClient,
          useFactory: (options: StripeOptions, budget: RequestBudget) => new StripeClient(options, budget),
          inject: [StripeOptions, RequestBudget],
        },
        {
          provide: BillingPlatform,
          useFactory: (client: StripeClient, options: StripeOptions) =>
            new StripeBillingPlatform(client, options.customPaymentMethodType),
          inject: [StripeClient, StripeOptions],
        },
        {
          provide: BillingReader,
          useFactory: (client: StripeClient) => new StripeBillingReader(client),
          inject: [StripeClient],
        },
        {
          provide: BillingMoves,
          useFactory: (client: StripeClient, options: StripeOptions) =>
            new StripeMoves(client, options.customPaymentMethodType),
          inject: [StripeClient, StripeOptions],
        },
        {
          provide: StripeSockets,
          useFactory: (client: StripeClient) => new StripeSockets(client),
          inject: [StripeClient],
        },
      ],
      exports: [BillingMoves, BillingPlatform, BillingReader],
    };
  }
}

// Provides log and metrics to every Nest module.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Logger } from './logger.js';
import { Metrics } from './metrics.js';
import { watchCalls } from './watch-calls.js';

/** The injection token of the log: `@Inject(LOG) log: Logger`. Nest's own `Logger` writes to the same log. */
export const LOG = Symbol('LOG');
/** The injection token of `OnCall`, a function called after each finished call to Stripe or to the MoR. */
export const ON_CALL = Symbol('ON_CALL');

/** Global: only the application module imports this module. */
@Global()
@Module({})
export class ObserveModule {
  static of(log: Logger, metrics: Metrics): DynamicModule {
    const providers = [
      { provide: LOG, useValue: log },
      { provide: Metrics, useValue: metrics },
      { provide: ON_CALL, useFactory: watchCalls, inject: [Metrics, LOG] },
    ];
    return { module: ObserveModule, providers, exports: providers.map(({ provide }) => provide) };
  }
}

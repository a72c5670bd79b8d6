// The whole daemon at a glance: the one file that knows every module.
import { randomBytes } from 'node:crypto';
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { ApiModule } from './api/api.module.js';
import { type Config, type Secret } from './config/index.js';
import { ConsoleModule } from './console/console.module.js';
import { coreModules } from './core.module.js';
import { Wake } from './lane/wake.js';
import { type IntakeOptions } from './intake/options.js';
import { IntakeModule } from './intake/intake.module.js';
import { ReadingRoom } from './intake/read-body.js';
import { type Logger, Metrics, type Tracer } from './observe/index.js';
import { watchCalls, watchDoors, watchLanes, watchSteps, watchVerify } from './watch.js';
import { StatementsModule } from './statements/statements.module.js';
import { type Database } from './store/database.js';
import { LEASE_MS } from './store/lane-queue.js';
import { WorkersModule } from './lane/workers.module.js';

/** The slow poll of the lane worker, in milliseconds: what it finds was decided for within a second. */
const POLL_MS = 400;

export type AppParts = {
  readonly config: Config;
  readonly db: Database;
  readonly log: Logger;
  readonly metrics: Metrics;
  /** Null: no traces. */
  readonly tracer: Tracer | null;
};

/** Metrics for the parts that show them, and the one room for all who read bodies. */
@Global()
@Module({})
class SharedModule {
  static of(metrics: Metrics, webhookBodyLimitBytes: number): DynamicModule {
    const room = { provide: ReadingRoom, useValue: ReadingRoom.forBodiesUpTo(webhookBodyLimitBytes) };
    return {
      module: SharedModule,
      providers: [{ provide: Metrics, useValue: metrics }, room],
      exports: [Metrics, ReadingRoom],
    };
  }
}

@Module({})
export class AppModule {
  /** `db` is open and its schema current; the application closes it when it ends. */
  static of({ config, db, log, metrics, tracer }: AppParts): DynamicModule {
    return {
      module: AppModule,
      imports: [
        ...coreModules({ config, db, onCall: watchCalls(metrics, log), watch: watchSteps(log, tracer) }),
        SharedModule.of(metrics, config.webhookBodyLimitBytes),
        IntakeModule.register({
          imports: [],
          options: {
            useFactory: (wake: Wake, room: ReadingRoom) => ({
              ...intakeOptions(config, watchDoors(metrics, log, wake, config.webhookMismatchStatus, tracer)),
              room,
            }),
            inject: [Wake, ReadingRoom],
          },
        }),
        WorkersModule.register({
          concurrency: config.workerConcurrency,
          leaseMs: LEASE_MS,
          pollMs: POLL_MS,
          ...watchLanes(metrics, log),
          ...watchVerify(log),
        }),
        ApiModule,
        StatementsModule,
        ConsoleModule,
      ],
    };
  }
}

function intakeOptions(config: Config, onAnswer: NonNullable<IntakeOptions['onAnswer']>): IntakeOptions {
  const reveal = (secrets: readonly Secret[]): string[] =>
    // A door without a secret stays shut: nobody can sign with one that was just made up.
    secrets.length > 0 ? secrets.map((s) => s.reveal()) : [randomBytes(32).toString('hex')];
  return {
    secrets: {
      stripe: reveal(config.stripeWebhookSecrets),
      mor_payments: reveal(config.morPaymentWebhookSecrets),
      mor_events: reveal(config.morEventWebhookSecrets),
    },
    toleranceSec: config.webhookToleranceSec,
    bodyLimitBytes: config.webhookBodyLimitBytes,
    mismatchStatus: config.webhookMismatchStatus,
    onAnswer,
  };
}

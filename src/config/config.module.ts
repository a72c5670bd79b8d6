// Gives the checked settings to every Nest module.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config } from './config.js';

/** Inject with `@Inject(CONFIG) config: Config`. */
export const CONFIG = Symbol('CONFIG');

/** Global: the application module imports it once. */
@Global()
@Module({})
export class ConfigModule {
  /** Settings load before Nest, so a wrong setting stops the start with a plain report. */
  static of(config: Config): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: CONFIG, useValue: config }], exports: [CONFIG] };
  }
}

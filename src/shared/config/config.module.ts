// Provides the checked settings to every Nest module.
import { type DynamicModule, Global, Module } from '@nestjs/common';
import { type Config } from './config.js';

/** The injection token of the settings: `@Inject(CONFIG) config: Config`. */
export const CONFIG = Symbol('CONFIG');

/** Global, so no other module has to import it. */
@Global()
@Module({})
export class ConfigModule {
  /** Makes the module from settings loaded before Nest: a wrong setting then stops the start with a plain report. */
  static of(config: Config): DynamicModule {
    return { module: ConfigModule, providers: [{ provide: CONFIG, useValue: config }], exports: [CONFIG] };
  }
}

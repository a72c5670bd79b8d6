// The doors as a Nest module: options, inbox and clock come in, the doors go out.
import { Module, type DynamicModule, type FactoryProvider, type ModuleMetadata } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { Inbox } from '../domain/ports/inbox.js';
import { Doors } from './doors.js';
import { type IntakeOptions } from './options.js';

/** The token under which the doors find their `IntakeOptions`. */
const INTAKE_OPTIONS = Symbol('IntakeOptions');

@Module({})
export class IntakeModule {
  /** `imports` must bring `Inbox` and `Clock`, and whatever the options are made from. The doors are closed until they are opened. */
  static register(settings: {
    readonly imports: NonNullable<ModuleMetadata['imports']>;
    readonly options: Omit<FactoryProvider<IntakeOptions>, 'provide'>;
  }): DynamicModule {
    return {
      module: IntakeModule,
      imports: settings.imports,
      providers: [
        { ...settings.options, provide: INTAKE_OPTIONS },
        {
          provide: Doors,
          useFactory: (options: IntakeOptions, inbox: Inbox, clock: Clock) => new Doors(options, inbox, clock),
          inject: [INTAKE_OPTIONS, Inbox, Clock],
        },
      ],
      exports: [Doors],
    };
  }
}

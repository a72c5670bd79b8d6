// Provides the rules of invoices, refunds and so on to the engine.
import { Global, Module } from '@nestjs/common';
import { Decider } from '../../engine/decider.js';
import { EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { MorObjectsModule } from '../mor-objects/mor-objects.module.js';
import { RouteEventsService } from '../mor-objects/route-events.service.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { PaymentsRepository } from '../payments/payments.repository.js';
import { RefundsModule } from '../refunds/refunds.module.js';
import { RefundsRepository } from '../refunds/refunds.repository.js';
import { SignupsModule } from '../signups/signups.module.js';
import { SignupsRepository } from '../signups/signups.repository.js';
import { EventParser } from '../../shared/domain/events/stored-event.js';
import { eventParser } from '../events/event-parser.js';
import { Decisions } from './decisions.js';

@Global()
@Module({
  imports: [MorModule, MorObjectsModule, PaymentsModule, RefundsModule, SignupsModule],
  providers: [
    { provide: EventParser, useValue: eventParser },
    {
      provide: Decider,
      useFactory: (
        router: RouteEventsService,
        payments: PaymentsRepository,
        refunds: RefundsRepository,
        signups: SignupsRepository,
        enrolment?: EnrolmentPort,
      ) => new Decisions(router, { payments, refunds, signups }, enrolment),
      inject: [
        RouteEventsService,
        PaymentsRepository,
        RefundsRepository,
        SignupsRepository,
        { token: EnrolmentPort, optional: true },
      ],
    },
  ],
  exports: [Decider, EventParser],
})
export class DecisionsModule {}

// Provides the rules of invoices, refunds and so on to the engine.
import { Global, Module } from '@nestjs/common';
import { Decider } from '../../engine/decider.js';
import { EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { MorObjectsModule } from '../mor-objects/mor-objects.module.js';
import { RouteEventsFlow } from '../mor-objects/route-events.service.js';
import { PaymentsModule } from '../payments/payments.module.js';
import { PaymentsStore } from '../payments/payments.repository.js';
import { RefundsModule } from '../refunds/refunds.module.js';
import { RefundsStore } from '../refunds/refunds.repository.js';
import { SignupsModule } from '../signups/signups.module.js';
import { SignupsStore } from '../signups/signups.repository.js';
import { Decisions } from './decisions.js';

@Global()
@Module({
  imports: [MorModule, MorObjectsModule, PaymentsModule, RefundsModule, SignupsModule],
  providers: [
    {
      provide: Decider,
      useFactory: (
        router: RouteEventsFlow,
        payments: PaymentsStore,
        refunds: RefundsStore,
        signups: SignupsStore,
        enrolment?: EnrolmentPort,
      ) => new Decisions(router, { payments, refunds, signups }, enrolment),
      inject: [RouteEventsFlow, PaymentsStore, RefundsStore, SignupsStore, { token: EnrolmentPort, optional: true }],
    },
  ],
  exports: [Decider],
})
export class DecisionsModule {}

// Enrolment of customers, and its pages.
import { Global, Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { ChargeLookupsRepository } from './charge-lookups.repository.js';
import { EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { EnrolmentService } from './enrolment.service.js';
import { EnrolmentPages } from './enrolment.pages.js';
import { EnrolmentRepository } from './enrolment.repository.js';

@Global()
@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [EnrolmentPages],
  providers: [
    EnrolmentService,
    { provide: EnrolmentPort, useExisting: EnrolmentService },
    EnrolmentRepository,
    ChargeLookupsRepository,
  ],
  exports: [EnrolmentService, EnrolmentPort, EnrolmentRepository],
})
export class EnrolmentModule {}

// Enrolment of customers, and its pages.
import { Global, Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { ChargeLooksStore } from './charge-lookups.repository.js';
import { EnrolmentPort } from '../../shared/domain/ports/enrolment.js';
import { EnrolmentFlow } from './enrolment.service.js';
import { EnrolmentPages } from './enrolment.pages.js';
import { EnrolmentStore } from './enrolment.repository.js';

@Global()
@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [EnrolmentPages],
  providers: [EnrolmentFlow, { provide: EnrolmentPort, useExisting: EnrolmentFlow }, EnrolmentStore, ChargeLooksStore],
  exports: [EnrolmentFlow, EnrolmentPort, EnrolmentStore],
})
export class EnrolmentModule {}

// Enrolment of customers, and its pages.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { ChargeLooksStore } from './charge-looks.store.js';
import { EnrolmentFlow } from './enrolment.flow.js';
import { EnrolmentPages } from './enrolment.pages.js';
import { EnrolmentStore } from './enrolment.store.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [EnrolmentPages],
  providers: [EnrolmentFlow, EnrolmentStore, ChargeLooksStore],
  exports: [EnrolmentFlow, EnrolmentStore],
})
export class EnrolmentModule {}

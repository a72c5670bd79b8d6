// Gives the engine the rules of the subjects.
import { Global, Module } from '@nestjs/common';
import { Decider } from '../engine/decider.js';
import { EnrolmentModule } from '../enrolment/enrolment.module.js';
import { MorModule } from '../mor/mor.module.js';
import { MorObjectsModule } from '../mor-objects/mor-objects.module.js';
import { Decisions } from './decisions.js';

@Global()
@Module({
  imports: [MorModule, EnrolmentModule, MorObjectsModule],
  providers: [{ provide: Decider, useClass: Decisions }],
  exports: [Decider],
})
export class DecisionsModule {}

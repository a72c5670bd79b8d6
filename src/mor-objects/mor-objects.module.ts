// What transfers, links and documents have in common.
import { Module } from '@nestjs/common';
import { EngineModule } from '../engine/engine.module.js';
import { MorModule } from '../mor/mor.module.js';
import { ObjectAnswers } from './object-answers.js';
import { MorObjectsFlow } from './mor-objects.flow.js';

@Module({
  imports: [EngineModule, MorModule],
  providers: [MorObjectsFlow, ObjectAnswers],
  exports: [MorObjectsFlow, ObjectAnswers],
})
export class MorObjectsModule {}

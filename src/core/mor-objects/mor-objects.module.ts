// The shared part of bank transfers, payment links and documents.
import { Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { HomelessEvents } from './homeless-events.repository.js';
import { ObjectAnswers } from './object-replies.js';
import { MorObjectsFlow } from './mor-objects.service.js';
import { RouteEventsFlow } from './route-events.service.js';

@Module({
  imports: [EngineModule, MorModule],
  providers: [HomelessEvents, MorObjectsFlow, ObjectAnswers, RouteEventsFlow],
  exports: [MorObjectsFlow, ObjectAnswers, RouteEventsFlow],
})
export class MorObjectsModule {}

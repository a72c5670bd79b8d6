// The shared part of bank transfers, payment links and documents.
import { Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { HomelessEvents } from './homeless-events.repository.js';
import { ObjectReplies } from './object-replies.js';
import { MorObjectsService } from './mor-objects.service.js';
import { RouteEventsService } from './route-events.service.js';

@Module({
  imports: [EngineModule, MorModule],
  providers: [HomelessEvents, MorObjectsService, ObjectReplies, RouteEventsService],
  exports: [MorObjectsService, ObjectReplies, RouteEventsService],
})
export class MorObjectsModule {}

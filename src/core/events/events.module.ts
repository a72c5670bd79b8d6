// The inbox and the quarantine, for operators.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { EventsController } from './events.controller.js';
import { EventsService } from './events.service.js';
import { EventPages } from './events.pages.js';
import { EventsRepository } from './events.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [EventsController, EventPages],
  providers: [EventsRepository, EventsService],
  exports: [EventsRepository],
})
export class EventsModule {}

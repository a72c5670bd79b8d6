// Review items: work for a person.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { ReviewsController } from './reviews.controller.js';
import { ReviewsService } from './reviews.service.js';
import { ReviewPages } from './reviews.pages.js';
import { ReviewsRepository } from './reviews.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [ReviewsController, ReviewPages],
  providers: [ReviewsRepository, ReviewsService],
  exports: [ReviewsRepository],
})
export class ReviewsModule {}

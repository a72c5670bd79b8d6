// Retries of failed renewals.
import { Module } from '@nestjs/common';
import { LaneModule } from '../lane/lane.module.js';
import { RetriesController } from './retries.controller.js';
import { RetriesFlow } from './retries.flow.js';

@Module({
  imports: [LaneModule],
  controllers: [RetriesController],
  providers: [RetriesFlow],
})
export class RetriesModule {}

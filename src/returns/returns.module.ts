// Debits that banks returned.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { LaneModule } from '../lane/lane.module.js';
import { ReturnsController } from './returns.controller.js';
import { ReturnsFlow } from './returns.flow.js';
import { ReturnPages } from './returns.pages.js';

@Module({
  imports: [ConsoleModule, LaneModule],
  controllers: [ReturnsController, ReturnPages],
  providers: [ReturnsFlow],
})
export class ReturnsModule {}

// The MoR's statements, and the debits that banks returned.
import { Module } from '@nestjs/common';
import { LaneModule } from '../lane/lane.module.js';
import { ReconcileFlow } from './reconcile.flow.js';
import { ReturnsController } from './returns.controller.js';
import { ReturnsFlow } from './returns.flow.js';
import { StatementsController } from './statements.controller.js';

@Module({
  imports: [LaneModule],
  controllers: [ReturnsController, StatementsController],
  providers: [ReturnsFlow, ReconcileFlow],
})
export class StatementsModule {}

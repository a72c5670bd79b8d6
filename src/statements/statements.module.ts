// The MoR's statements, and the debits that banks returned.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { LaneModule } from '../lane/lane.module.js';
import { ReconcileFlow } from './reconcile.flow.js';
import { ReturnsController } from './returns.controller.js';
import { ReturnsFlow } from './returns.flow.js';
import { ReturnPages } from './returns.pages.js';
import { StatementPages } from './statements.pages.js';
import { StatementsController } from './statements.controller.js';

@Module({
  imports: [ConsoleModule, LaneModule],
  controllers: [ReturnsController, ReturnPages, StatementsController, StatementPages],
  providers: [ReturnsFlow, ReconcileFlow],
})
export class StatementsModule {}

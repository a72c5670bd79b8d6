// Refunds, for the API and the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { RefundAnswers } from './refund-answers.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsFlow } from './refunds.flow.js';
import { RefundPages } from './refunds.pages.js';
import { RefundsStore } from './refunds.store.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [RefundsController, RefundPages],
  providers: [RefundsStore, RefundsFlow, RefundAnswers],
  exports: [RefundsStore],
})
export class RefundsModule {}

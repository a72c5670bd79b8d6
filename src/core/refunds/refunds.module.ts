// Refunds, for the API and the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { RefundReplies } from './refund-replies.js';
import { RefundsController } from './refunds.controller.js';
import { RefundsService } from './refunds.service.js';
import { RefundPages } from './refunds.pages.js';
import { RefundsRepository } from './refunds.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [RefundsController, RefundPages],
  providers: [RefundsRepository, RefundsService, RefundReplies],
  exports: [RefundsRepository],
})
export class RefundsModule {}

// The payments taken by the MoR, and their marks on the invoices. For the API and the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsService } from './payments.service.js';
import { PaymentPages } from './payments.pages.js';
import { PaymentsRepository } from './payments.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [PaymentsController, PaymentPages],
  providers: [PaymentsRepository, PaymentsService],
  exports: [PaymentsRepository],
})
export class PaymentsModule {}

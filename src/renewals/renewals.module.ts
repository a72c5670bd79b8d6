// Renewals: invoices and their payments, over the API and on the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { EngineModule } from '../engine/engine.module.js';
import { InvoicesController } from './invoices.controller.js';
import { InvoicePages } from './invoices.pages.js';
import { PaymentsController } from './payments.controller.js';
import { PaymentsFlow } from './payments.flow.js';
import { PaymentPages } from './payments.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [InvoicesController, PaymentsController, InvoicePages, PaymentPages],
  providers: [PaymentsFlow],
})
export class RenewalsModule {}

// Stripe's invoices: Crossbill records them, expects their payment and relays them to the MoR. For the API and the
// console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { InvoicesController } from './invoices.controller.js';
import { InvoicePages } from './invoices.pages.js';
import { InvoiceViews } from './invoice-views.service.js';
import { InvoicesRepository } from './invoices.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [InvoicesController, InvoicePages],
  providers: [InvoicesRepository, InvoiceViews],
  exports: [InvoicesRepository, InvoiceViews],
})
export class InvoicesModule {}

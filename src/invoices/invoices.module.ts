// Invoices of the billing platform: consumed, expected to be paid, relayed; over the API and on the console.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { EngineModule } from '../engine/engine.module.js';
import { InvoicesController } from './invoices.controller.js';
import { InvoicePages } from './invoices.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [InvoicesController, InvoicePages],
})
export class InvoicesModule {}

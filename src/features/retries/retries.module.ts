// Retries of failed renewals.
import { Module, type OnModuleInit } from '@nestjs/common';
import { Needs } from '../../frames/console/needs.js';
import { REFUSED_SHOWN, refusedNeeds } from './refused.needs.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { RetryListPages } from './retry-list.pages.js';
import { InvoicesModule } from '../../core/invoices/invoices.module.js';
import { InvoiceRetryController } from './invoice-retry.controller.js';
import { RetriesService } from './retries.service.js';
import { RetryPages } from './retries.pages.js';
import { RetriesRepository } from './retries.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule, InvoicesModule],
  controllers: [InvoiceRetryController, RetryPages, RetryListPages],
  providers: [RetriesService, RetriesRepository],
  exports: [RetriesService, RetriesRepository],
})
export class RetriesModule implements OnModuleInit {
  constructor(
    private readonly retries: RetriesRepository,
    private readonly needs: Needs,
  ) {}

  onModuleInit(): void {
    this.needs.add(async (now) => refusedNeeds(await this.retries.unplanned(REFUSED_SHOWN + 1), now));
  }
}

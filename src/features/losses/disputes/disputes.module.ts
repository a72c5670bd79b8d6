// Serves the pages of disputes and alerts. The engine runs their rules.
import { Module, type OnModuleInit } from '@nestjs/common';
import { disputePath } from '../../../core/mor-objects/dispute-link.view.js';
import { ObjectSearch } from '../../../frames/console/search-results.js';
import { capital } from '../../../frames/console/show.js';
import { objectId } from '../../../shared/domain/mor-object.js';
import { ConsoleModule } from '../../../frames/console/console.module.js';
import { CustomersModule } from '../../../core/customers/customers.module.js';
import { CustomerDisputes } from './customer-disputes.js';
import { DisputesRepository } from './disputes.repository.js';
import { DisputePages } from './disputes.pages.js';
import { EngineModule } from '../../../engine/engine.module.js';

@Module({
  imports: [EngineModule, ConsoleModule, CustomersModule],
  controllers: [DisputePages],
  providers: [DisputesRepository, CustomerDisputes],
  exports: [DisputesRepository],
})
export class DisputesModule implements OnModuleInit {
  constructor(
    private readonly disputes: DisputesRepository,
    private readonly search: ObjectSearch,
  ) {}

  onModuleInit(): void {
    this.search.add(async (id) => {
      const dispute = await this.disputes.find(id);
      if (dispute === null) return null;
      const { amount: minor, currency, status, createdAt: at, kind } = dispute;
      const name = { what: capital(kind), id: objectId(dispute), path: disputePath(dispute) };
      return { ...name, exact: true, minor, currency, status, at, name: null };
    });
  }
}

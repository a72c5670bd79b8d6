// Serves the pages of disputes and alerts. The engine runs their rules.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../../frames/console/console.module.js';
import { CustomersModule } from '../../../core/customers/customers.module.js';
import { CustomerDisputes } from './customer-disputes.js';
import { DisputesStore } from './disputes.store.js';
import { DisputePages } from './disputes.pages.js';
import { EngineModule } from '../../../engine/engine.module.js';

@Module({
  imports: [EngineModule, ConsoleModule, CustomersModule],
  controllers: [DisputePages],
  providers: [DisputesStore, CustomerDisputes],
  exports: [DisputesStore],
})
export class DisputesModule {}

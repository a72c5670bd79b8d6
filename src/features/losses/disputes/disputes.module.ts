// Serves the pages of disputes and alerts. The engine runs their rules.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../../frames/console/console.module.js';
import { DisputesStore } from './disputes.store.js';
import { DisputePages } from './disputes.pages.js';
import { EngineModule } from '../../../engine/engine.module.js';

@Module({
  imports: [EngineModule, ConsoleModule],
  controllers: [DisputePages],
  providers: [DisputesStore],
  exports: [DisputesStore],
})
export class DisputesModule {}

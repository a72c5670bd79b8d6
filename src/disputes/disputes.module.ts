// Disputes and alerts: their pages. What is decided about them is in the engine's table.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { DisputesStore } from './disputes.store.js';
import { DisputePages } from './disputes.pages.js';
import { EngineModule } from '../engine/engine.module.js';

@Module({
  imports: [EngineModule, ConsoleModule],
  controllers: [DisputePages],
  providers: [DisputesStore],
  exports: [DisputesStore],
})
export class DisputesModule {}

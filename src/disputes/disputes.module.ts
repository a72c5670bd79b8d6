// Disputes and alerts: their pages. What is decided about them is in the engine's table.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { DisputesStore } from './disputes.store.js';
import { DisputePages } from './disputes.pages.js';

@Module({ imports: [ConsoleModule], controllers: [DisputePages], providers: [DisputesStore], exports: [DisputesStore] })
export class DisputesModule {}

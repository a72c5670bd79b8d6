// Debits returned by banks.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../../frames/console/console.module.js';
import { EngineModule } from '../../../engine/engine.module.js';
import { ReturnsController } from './returns.controller.js';
import { ReturnsService } from './returns.service.js';
import { ReturnPages } from './returns.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule],
  controllers: [ReturnsController, ReturnPages],
  providers: [ReturnsService],
})
export class ReturnsModule {}

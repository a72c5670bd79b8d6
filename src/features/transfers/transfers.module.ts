// Bank transfers: proforma invoices.
import { Module } from '@nestjs/common';
import { MorObjectsModule } from '../../core/mor-objects/mor-objects.module.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { ProformasController } from './proformas.controller.js';
import { ProformasService } from './proformas.service.js';
import { ProformaPages } from './proformas.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule, MorObjectsModule, MorModule],
  controllers: [ProformasController, ProformaPages],
  providers: [ProformasService],
})
export class TransfersModule {}

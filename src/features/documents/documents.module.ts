// Invoice files and e-invoices of the MoR.
import { Module } from '@nestjs/common';
import { MorModule } from '../../frames/mor/mor.module.js';
import { DocumentsController } from './documents.controller.js';
import { EngineModule } from '../../engine/engine.module.js';

@Module({
  imports: [EngineModule, MorModule],
  controllers: [DocumentsController],
})
export class DocumentsModule {}

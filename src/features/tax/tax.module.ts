// Tax calculations, tax of record, and the catalogue of products.
import { Module } from '@nestjs/common';
import { SignupsModule } from '../../core/signups/signups.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { CatalogueController } from './catalogue.controller.js';
import { TaxController } from './tax.controller.js';

@Module({
  imports: [MorModule, SignupsModule],
  controllers: [TaxController, CatalogueController],
})
export class TaxModule {}

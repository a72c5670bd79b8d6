// Tax calculations, tax of record, and the catalogue of products.
import { Module } from '@nestjs/common';
import { MorModule } from '../../frames/mor/mor.module.js';
import { CatalogueController } from './catalogue.controller.js';
import { TaxController } from './tax.controller.js';
import { TaxTotalsStore } from './tax-totals.store.js';

@Module({
  imports: [MorModule],
  controllers: [TaxController, CatalogueController],
  providers: [TaxTotalsStore],
  exports: [TaxTotalsStore],
})
export class TaxModule {}

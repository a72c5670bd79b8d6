// The ledger and the trial balance.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { FoldLedger } from './fold-ledger.js';
import { LedgerController } from './ledger.controller.js';
import { LedgerStore } from './ledger.repository.js';
import { LedgerPages } from './ledger.pages.js';
import { LedgerSumsStore } from './sums.repository.js';
import { ExportsStore } from './exports.repository.js';

@Module({
  imports: [ConsoleModule],
  controllers: [LedgerController, LedgerPages],
  providers: [LedgerStore, FoldLedger, LedgerSumsStore, ExportsStore],
  exports: [LedgerSumsStore],
})
export class LedgerModule {}

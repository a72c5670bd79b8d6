// The ledger and the trial balance.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { FoldLedger } from './fold-ledger.js';
import { LedgerController } from './ledger.controller.js';
import { LedgerRepository } from './ledger.repository.js';
import { LedgerPages } from './ledger.pages.js';
import { LedgerSumsRepository } from './sums.repository.js';
import { ExportsRepository } from './exports.repository.js';

@Module({
  imports: [ConsoleModule],
  controllers: [LedgerController, LedgerPages],
  providers: [LedgerRepository, FoldLedger, LedgerSumsRepository, ExportsRepository],
  exports: [LedgerSumsRepository],
})
export class LedgerModule {}

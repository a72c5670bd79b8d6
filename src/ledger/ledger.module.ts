// The books of the money.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../console/console.module.js';
import { LedgerController } from './ledger.controller.js';
import { LedgerPages } from './ledger.pages.js';

@Module({
  imports: [ConsoleModule],
  controllers: [LedgerController, LedgerPages],
})
export class LedgerModule {}

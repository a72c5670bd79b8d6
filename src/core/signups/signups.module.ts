// Signups and their first payments.
import { Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { OverdueSignups } from './overdue-signups.js';
import { SignupPrice } from './signup-price.js';
import { SignupFlow } from './signup.service.js';
import { SignupsController } from './signups.controller.js';
import { SignupsStore } from './signups.repository.js';
import { TaxTotalsStore } from './tax-totals.repository.js';

@Module({
  imports: [EngineModule, MorModule],
  controllers: [SignupsController],
  providers: [SignupFlow, SignupPrice, TaxTotalsStore, OverdueSignups, SignupsStore],
  exports: [SignupFlow, SignupsStore, TaxTotalsStore],
})
export class SignupsModule {}

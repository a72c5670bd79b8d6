// Signups and their first payments.
import { Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { OverdueSignups } from './overdue-signups.js';
import { SignupPrice } from './signup-price.js';
import { SignupService } from './signup.service.js';
import { SignupsController } from './signups.controller.js';
import { SignupsRepository } from './signups.repository.js';
import { TaxTotalsRepository } from './tax-totals.repository.js';

@Module({
  imports: [EngineModule, MorModule],
  controllers: [SignupsController],
  providers: [SignupService, SignupPrice, TaxTotalsRepository, OverdueSignups, SignupsRepository],
  exports: [SignupService, SignupsRepository, TaxTotalsRepository],
})
export class SignupsModule {}

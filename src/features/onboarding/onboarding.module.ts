// Onboarding of merchants at the MoR. Without partner credentials only the routes exist, and each answers 409.
import { type DynamicModule, Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { type Config } from '../../shared/config/index.js';
import { OnboardingController } from './onboarding.controller.js';
import { OnboardingRepository } from './onboarding.repository.js';
import { OnboardingService } from './onboarding.service.js';

@Module({ controllers: [OnboardingController] })
export class OnboardingModule {
  static of({ morPartnerClientId }: Pick<Config, 'morPartnerClientId'>): DynamicModule {
    const parts = { imports: [EngineModule, MorModule], providers: [OnboardingService, OnboardingRepository] };
    return { module: OnboardingModule, ...(morPartnerClientId === null ? {} : parts) };
  }
}

// Onboarding of merchants at the MoR.
import { Module } from '@nestjs/common';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { OnboardingPoller } from './onboarding-poller.js';
import { OnboardingController } from './onboarding.controller.js';
import { OnboardingFlow } from './onboarding.flow.js';
import { OnboardingStore } from './onboarding.store.js';

@Module({
  imports: [EngineModule, MorModule],
  controllers: [OnboardingController],
  providers: [OnboardingFlow, OnboardingPoller, OnboardingStore],
})
export class OnboardingModule {}

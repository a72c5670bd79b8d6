// The routes that hand Documents 1 and 2 on to the merchant's backend and to operators.
import { Module } from '@nestjs/common';
import { MorModule } from '../mor/mor.module.js';
import { MorWebhooksController } from '../webhook-endpoints/webhook-endpoints.controller.js';
import { OnboardingController } from '../onboarding/onboarding.controller.js';
import { CatalogueController } from '../tax/catalogue.controller.js';
import { TaxController } from '../tax/tax.controller.js';

/** Needs the onboarding flow and the clock from global modules. What stands before every route is the API module's. */
@Module({
  imports: [MorModule],
  controllers: [TaxController, CatalogueController, MorWebhooksController, OnboardingController],
})
export class MorApiModule {}

// Payment links.
import { Module } from '@nestjs/common';
import { MorObjectsModule } from '../../core/mor-objects/mor-objects.module.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { PaymentLinksController } from './payment-links.controller.js';
import { PaymentLinksService } from './payment-links.service.js';
import { PaymentLinkPages } from './payment-links.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule, MorObjectsModule],
  controllers: [PaymentLinksController, PaymentLinkPages],
  providers: [PaymentLinksService],
})
export class LinksModule {}

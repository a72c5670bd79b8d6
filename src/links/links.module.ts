// Payment links.
import { Module } from '@nestjs/common';
import { ChannelsModule } from '../channels/channels.module.js';
import { ConsoleModule } from '../console/console.module.js';
import { EngineModule } from '../engine/engine.module.js';
import { PaymentLinksController } from './payment-links.controller.js';
import { PaymentLinksFlow } from './payment-links.flow.js';
import { PaymentLinkPages } from './payment-links.pages.js';

@Module({
  imports: [ConsoleModule, EngineModule, ChannelsModule],
  controllers: [PaymentLinksController, PaymentLinkPages],
  providers: [PaymentLinksFlow],
})
export class LinksModule {}

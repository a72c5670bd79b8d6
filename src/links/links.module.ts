// Payment links.
import { Module } from '@nestjs/common';
import { ChannelsModule } from '../channels/channels.module.js';
import { PaymentLinksController } from './payment-links.controller.js';

@Module({
  imports: [ChannelsModule],
  controllers: [PaymentLinksController],
})
export class LinksModule {}

// The MoR's webhook endpoints for its events.
import { Module } from '@nestjs/common';
import { MorModule } from '../mor/mor.module.js';
import { MorWebhooksController } from './webhook-endpoints.controller.js';

@Module({
  imports: [MorModule],
  controllers: [MorWebhooksController],
})
export class WebhookEndpointsModule {}

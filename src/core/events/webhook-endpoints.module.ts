// The routes for webhook addresses registered at the MoR.
import { Module } from '@nestjs/common';
import { MorModule } from '../../frames/mor/mor.module.js';
import { MorWebhooksController } from './webhook-endpoints.controller.js';

@Module({
  imports: [MorModule],
  controllers: [MorWebhooksController],
})
export class WebhookEndpointsModule {}

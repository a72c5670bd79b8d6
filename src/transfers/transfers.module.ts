// Bank transfers: proforma invoices.
import { Module } from '@nestjs/common';
import { ChannelsModule } from '../channels/channels.module.js';
import { MorModule } from '../mor/mor.module.js';
import { ProformasController } from './proformas.controller.js';

@Module({
  imports: [ChannelsModule, MorModule],
  controllers: [ProformasController],
})
export class TransfersModule {}

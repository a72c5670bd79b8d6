// The routes of the MoR's other channels: bank transfers, payment links, documents.
import { Module } from '@nestjs/common';
import { MorModule } from '../mor/mor.module.js';
import { ChannelAnswers } from './channel-answers.js';
import { DocumentsController } from '../documents/documents.controller.js';
import { PaymentLinksController } from '../links/payment-links.controller.js';
import { ProformasController } from '../transfers/proformas.controller.js';

/** Needs the channel flow, the books, the clock and the ids from global modules. What stands before every route is the API module's. */
@Module({
  imports: [MorModule],
  controllers: [ProformasController, PaymentLinksController, DocumentsController],
  providers: [ChannelAnswers],
})
export class ChannelsModule {}

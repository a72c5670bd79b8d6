// The MoR's statements and the debits that banks returned, as a Nest module.
import { Module } from '@nestjs/common';
import { ReturnsController } from './returns.controller.js';

@Module({ controllers: [ReturnsController] })
export class StatementsModule {}

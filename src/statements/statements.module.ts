// Debits that banks returned, as a Nest module.
import { Module } from '@nestjs/common';
import { LaneModule } from '../lane/lane.module.js';
import { ReturnsController } from './returns.controller.js';
import { ReturnsFlow } from './returns.flow.js';

@Module({ imports: [LaneModule], controllers: [ReturnsController], providers: [ReturnsFlow] })
export class StatementsModule {}

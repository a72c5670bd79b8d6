// What transfers, links and documents have in common.
import { Module } from '@nestjs/common';
import { EngineModule } from '../engine/engine.module.js';
import { MorModule } from '../mor/mor.module.js';
import { ChannelAnswers } from './channel-answers.js';
import { ChannelFlow } from './channel.flow.js';

@Module({
  imports: [EngineModule, MorModule],
  providers: [ChannelFlow, ChannelAnswers],
  exports: [ChannelFlow, ChannelAnswers],
})
export class ChannelsModule {}

// Moves of subscriptions from Stripe's own collection to the MoR.
import { Module } from '@nestjs/common';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { CustomersModule } from '../../core/customers/customers.module.js';
import { MoveSteps } from './move-steps.js';
import { MovesController } from './moves.controller.js';
import { MovesService } from './moves.service.js';
import { MovePages } from './moves.pages.js';
import { MovesRepository } from './moves.repository.js';

@Module({
  imports: [ConsoleModule, EngineModule, CustomersModule],
  controllers: [MovesController, MovePages],
  providers: [MovesRepository, MoveSteps, MovesService],
})
export class MovesModule {}

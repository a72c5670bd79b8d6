// Probes and metrics.
import { Module } from '@nestjs/common';
import { AboutController } from '../api/about.controller.js';
import { ApiModule } from '../api/api.module.js';
import { Gauges } from './gauges.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  imports: [ApiModule],
  controllers: [HealthController, AboutController],
  providers: [Readiness, Gauges],
})
export class HealthModule {}

// Probes and metrics.
import { Module } from '@nestjs/common';
import { Gauges } from './gauges.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';

@Module({
  controllers: [HealthController],
  providers: [Readiness, Gauges],
})
export class HealthModule {}

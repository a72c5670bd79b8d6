// Probes and metrics.
import { Module } from '@nestjs/common';
import { AboutController } from '../../frames/api/about.controller.js';
import { ApiModule } from '../../frames/api/api.module.js';
import { Gauges } from './gauges.js';
import { HealthController } from './health.controller.js';
import { Readiness } from './readiness.js';
import { HealthRepository } from './health.repository.js';
import { Lifecycle } from './lifecycle.js';
import { NewsOfFeatures } from './news.js';

@Module({
  imports: [ApiModule],
  controllers: [HealthController, AboutController],
  providers: [HealthRepository, Readiness, Gauges, Lifecycle, NewsOfFeatures],
  exports: [HealthRepository, Gauges, Lifecycle, NewsOfFeatures],
})
export class HealthModule {}

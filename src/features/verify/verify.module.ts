// Verify as a module: the service, the daily job, and their findings in the API and on the console.
import { Global, Module, type OnModuleInit } from '@nestjs/common';
import { HealthModule } from '../../core/health/health.module.js';
import { Lifecycle } from '../../core/health/lifecycle.js';
import { NewsOfFeatures } from '../../core/health/news.js';
import { Needs } from '../../frames/console/needs.js';
import { verifyNeeds } from './verify.needs.js';
import { newsFrom } from './verify.news.js';
import { ConsoleModule } from '../../frames/console/console.module.js';
import { EngineModule } from '../../engine/engine.module.js';
import { MorModule } from '../../frames/mor/mor.module.js';
import { EndpointWatch } from './endpoint-watch.js';
import { LossWindowService } from './loss-window.service.js';
import { VerifyJob } from './verify-job.js';
import { VerifyReports } from './verify-reports.js';
import { VerifyController } from './verify.controller.js';
import { VerifyService } from './verify.service.js';
import { VerifyPages } from './verify.pages.js';
import { VerifyRepository } from './verify.repository.js';
import { Comparer, Differences, LostEvents } from '../../shared/domain/ports/differences.js';
import { DifferencesRepository } from './differences.repository.js';
import { MarksRepository } from './marks.repository.js';
import { RecordsRepository } from './records.repository.js';
import { LossRepository } from './loss.repository.js';
import { EndpointsLogRepository } from './endpoints-log.repository.js';

/** How long the daemon's stop waits for the record of its closed endpoints. */
const GRACE_MS = 1_000;

@Global()
@Module({
  imports: [ConsoleModule, EngineModule, HealthModule, MorModule],
  controllers: [VerifyController, VerifyPages],
  providers: [
    VerifyService,
    { provide: Comparer, useExisting: VerifyService },
    LossWindowService,
    { provide: LostEvents, useExisting: LossWindowService },
    VerifyReports,
    VerifyJob,
    EndpointWatch,
    VerifyRepository,
    DifferencesRepository,
    { provide: Differences, useExisting: DifferencesRepository },
    MarksRepository,
    RecordsRepository,
    LossRepository,
    EndpointsLogRepository,
  ],
  exports: [VerifyRepository, Differences],
})
export class VerifyModule implements OnModuleInit {
  constructor(
    private readonly watch: EndpointWatch,
    private readonly lifecycle: Lifecycle,
    private readonly books: VerifyRepository,
    private readonly needs: Needs,
    private readonly news: NewsOfFeatures,
  ) {}

  onModuleInit(): void {
    const { watch, books } = this;
    this.needs.add(async () => verifyNeeds(await books.last(), await books.lastComplete()));
    this.news.add(newsFrom(books));
    this.lifecycle.add({ start: () => void watch.opened(), stop: () => watch.closing(), graceMs: GRACE_MS });
  }
}

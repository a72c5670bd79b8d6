// The daily verify run. One replica runs it, and every replica shows its result as metrics.
import { Inject, Injectable, type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Clock } from '../../shared/domain/ports/clock.js';
import { unnotifiedByKind } from './rules/run.js';
import { VerifyReports } from './verify-reports.js';
import { VerifyRepository } from './verify.repository.js';
import { Metrics } from '../../shared/observe/index.js';
import { isRepairable } from '../../shared/domain/difference.js';
import { VerifyService } from './verify.service.js';
import { DAY_MS, VERIFY_LOOKBACK_MS } from '../../shared/policy.js';
import { VERIFY_AGAIN_AFTER_MS, VERIFY_HELD_MS, VERIFY_POLL_EVERY_MS } from './rules/limits.js';

export type VerifyJobReports = Pick<VerifyReports, 'onRun' | 'onError'>;

const STOP_GRACE_MS = 2_000; // fits into the daemon's 20 seconds after SIGTERM

@Injectable()
export class VerifyJob implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  private underWay: Promise<void> | null = null;
  private catchUp = false;

  constructor(
    private readonly service: VerifyService,
    private readonly books: VerifyRepository,
    private readonly clock: Clock,
    @Inject(Metrics) private readonly metrics: Pick<Metrics, 'verified'>,
    @Inject(VerifyReports) private readonly reports: VerifyJobReports,
  ) {}

  /** Runs verify if it is due, unless another replica does, and updates the metrics. Never rejects. */
  @Interval(VERIFY_POLL_EVERY_MS)
  tick(): Promise<void> {
    this.underWay ??= this.once().finally(() => (this.underWay = null));
    return this.underWay;
  }

  /** Runs verify after a loss window (an outage longer than the MoR's tries), and repairs the differences of this run. */
  async afterOutage(): Promise<void> {
    this.catchUp = true;
    await this.tick();
    this.catchUp = false;
  }

  /** Ends the run after its present request. Another replica resumes the run. */
  async onModuleDestroy(): Promise<void> {
    const { underWay } = this;
    this.stopping.abort();
    if (underWay === null) return;
    await Promise.race([underWay, this.clock.sleep(STOP_GRACE_MS)]);
    await this.books.nextRunIn(0).catch((e: unknown) => this.reports.onError('verify will resume late', e));
  }

  private async once(): Promise<void> {
    try {
      const now = this.clock.now().getTime();
      if (await this.books.claimRun(VERIFY_HELD_MS)) await this.run(now);
      await this.show();
    } catch (e) {
      if (!this.stopping.signal.aborted) this.reports.onError('the daily verify could not start', e);
    }
  }

  private async run(now: number): Promise<void> {
    try {
      const installedAt = await this.books.installedAt();
      const since = new Date(Math.max(now - VERIFY_LOOKBACK_MS, installedAt.getTime()));
      const { signal } = this.stopping;
      const onSaved = (): Promise<void> => this.books.nextRunIn(VERIFY_HELD_MS);
      const report = await this.service.run({ since, resume: true, signal, onSaved });
      this.reports.onRun(report);
      const caughtUp = this.catchUp && report.differences.some(isRepairable);
      if (caughtUp) await this.service.repair(report);
      if (report.outcome !== 'incomplete') {
        // After a repair the next run starts soon and shows the result. Without a repair the next run starts a day
        // after this run began. A resumed run keeps its first start.
        const tomorrow = report.beganAt.getTime() + DAY_MS - (await this.books.time()).getTime();
        await this.books.nextRunIn(caughtUp ? VERIFY_POLL_EVERY_MS : tomorrow);
        return;
      }
    } catch (e) {
      this.reports.onError('the daily verify failed', e);
    }
    if (!this.stopping.signal.aborted) await this.books.nextRunIn(VERIFY_AGAIN_AFTER_MS);
  }

  private async show(): Promise<void> {
    const last = await this.books.last();
    if (last === null) return;
    this.metrics.verified(unnotifiedByKind(last), await this.books.lastComplete());
  }
}

// The daily verify: one replica makes it, every replica shows its outcome as metrics.
import { type OnModuleDestroy } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { type Clock } from '../domain/ports/clock.js';
import { type VerifyBooks } from '../domain/ports/verify-books.js';
import { type DifferenceKind, differenceKinds, isRepairable } from '../domain/verify/compare.js';
import { type VerifyFlow, type VerifyReport } from '../flows/verify.flow.js';

export type VerifyMetrics = {
  /** `counts` names every kind. `lastSuccessAt`: the end of the newest run that compared everything; null: none did. */
  verified(counts: Readonly<Record<DifferenceKind, number>>, lastSuccessAt: Date | null): void;
};

export type VerifyJobReports = {
  readonly onRun: (report: VerifyReport) => void;
  readonly onError: (what: string, error: unknown) => void;
};

const DAY_MS = 86_400_000;
/** How far back a run looks: as far as Stripe lists events, and not before this installation was there. */
const LOOK_BACK_MS = 30 * DAY_MS;
const AGAIN_AFTER_MS = 3_600_000;
const EVERY_MS = 5 * 60_000;
const STOP_GRACE_MS = 2_000; // a part of the 20 seconds that SIGTERM is given

export class VerifyJob implements OnModuleDestroy {
  private readonly stopping = new AbortController();
  private underWay: Promise<void> | null = null;
  private catchUp = false;

  constructor(
    private readonly flow: VerifyFlow,
    private readonly books: VerifyBooks,
    private readonly clock: Clock,
    private readonly metrics: VerifyMetrics,
    private readonly reports: VerifyJobReports,
  ) {}

  /** Makes the run when it is due and nobody else has; brings the metrics up to date either way. Never rejects. */
  @Interval(EVERY_MS)
  tick(): Promise<void> {
    this.underWay ??= this.once().finally(() => (this.underWay = null));
    return this.underWay;
  }

  /** The doors were closed for longer than the MoR may have waited: what it then says of itself is taken in without anyone asking. */
  async afterOutage(): Promise<void> {
    this.catchUp = true;
    await this.tick();
    this.catchUp = false;
  }

  /** A run under way ends at its next step and is made again by whoever comes next. */
  async onModuleDestroy(): Promise<void> {
    const { underWay } = this;
    this.stopping.abort();
    if (underWay === null) return;
    await Promise.race([underWay, this.clock.sleep(STOP_GRACE_MS)]);
    await this.books.nextRunAt(this.clock.now()).catch((e: unknown) => this.reports.onError('verify is late', e));
  }

  private async once(): Promise<void> {
    try {
      const now = this.clock.now().getTime();
      if (await this.books.claimRun(new Date(now + DAY_MS))) await this.run(now);
      await this.show();
    } catch (e) {
      if (!this.stopping.signal.aborted) this.reports.onError('the daily verify could not be made', e);
    }
  }

  private async run(now: number): Promise<void> {
    try {
      const installedAt = await this.books.installedAt();
      const since = new Date(Math.max(now - LOOK_BACK_MS, installedAt.getTime()));
      const report = await this.flow.run({ since, signal: this.stopping.signal });
      this.reports.onRun(report);
      if (this.catchUp && report.differences.some(isRepairable)) {
        await this.flow.repair(report);
        await this.books.nextRunAt(new Date(now + EVERY_MS)); // and see whether all is well then
      }
      if (report.outcome !== 'incomplete') return;
    } catch (e) {
      this.reports.onError('the daily verify failed', e);
    }
    if (!this.stopping.signal.aborted) await this.books.nextRunAt(new Date(now + AGAIN_AFTER_MS));
  }

  private async show(): Promise<void> {
    const last = await this.books.last();
    if (last === null) return;
    const counts = Object.fromEntries(differenceKinds.map((kind) => [kind, 0])) as Record<DifferenceKind, number>;
    for (const d of last.differences) if (d.reviewId === null) counts[d.kind] += 1;
    this.metrics.verified(counts, await this.books.lastComplete());
  }
}

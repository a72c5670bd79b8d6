// Records about once a minute that the webhook endpoints of this process are open. Runs verify at once after a loss
// window.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Ids } from '../../shared/domain/ports/clock.js';
import { EndpointsLogRepository } from './endpoints-log.repository.js';
import { VerifyRepository } from './verify.repository.js';
import { LossWindowService } from './loss-window.service.js';
import { VerifyJob } from './verify-job.js';
import { LOG, type Logger } from '../../shared/observe/index.js';

const EVERY_MS = 60_000;

@Injectable()
export class EndpointWatch {
  private id: string | null = null;
  private isOpen = false;

  constructor(
    private readonly endpoints: EndpointsLogRepository,
    private readonly loss: LossWindowService,
    private readonly books: VerifyRepository,
    private readonly ids: Ids,
    private readonly job: VerifyJob,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** Records that the endpoints are now open. */
  async opened(): Promise<void> {
    this.isOpen = true;
    await this.beat();
  }

  /** Records that the endpoints are about to close. */
  async closing(): Promise<void> {
    this.isOpen = false;
    if (this.id === null) return;
    try {
      await this.endpoints.seen(this.id);
    } catch (err) {
      this.log.error({ event: 'verify.closing_lost', err }, "Couldn't record the closing of the webhook endpoints");
    }
  }

  /**
   * Records that the endpoints are open, and runs verify after a loss window. A failed write does no harm: without the
   * database the endpoints accept nothing either.
   */
  @Interval(EVERY_MS)
  async beat(): Promise<void> {
    if (!this.isOpen) return;
    try {
      if (this.id !== null && (await this.endpoints.seen(this.id))) return;
      const id = this.ids.next('open');
      await this.endpoints.opened(id);
      this.id = id;
      if (!(await this.loss.isNews(await this.books.lastComplete()))) return;
      await this.books.nextRunIn(0);
      void this.job.afterOutage();
    } catch (err) {
      this.log.error({ event: 'verify.opening_lost', err }, "Couldn't record the opening of the webhook endpoints");
    }
  }
}

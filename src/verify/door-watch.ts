// Writes down, about once a minute, that the doors of this process are open; after an outage that the MoR may not have waited out,
// verify is made at once.
import { Inject, Injectable } from '@nestjs/common';
import { Interval } from '@nestjs/schedule';
import { Ids } from '../domain/ports/clock.js';
import { DoorsLogStore } from './doors-log.store.js';
import { VerifyStore } from './verify.store.js';
import { LossWindowFlow } from './loss-window.flow.js';
import { VerifyJob } from './verify-job.js';
import { LOG, type Logger } from '../observe/index.js';

const EVERY_MS = 60_000;

@Injectable()
export class DoorWatch {
  private id: string | null = null;
  private isOpen = false;

  constructor(
    private readonly doors: DoorsLogStore,
    private readonly loss: LossWindowFlow,
    private readonly books: VerifyStore,
    private readonly ids: Ids,
    private readonly job: VerifyJob,
    @Inject(LOG) private readonly log: Logger,
  ) {}

  /** The doors are open from now on. Resolves when that is written, or could not be. */
  async opened(): Promise<void> {
    this.isOpen = true;
    await this.beat();
  }

  /** They are about to close. */
  async closing(): Promise<void> {
    this.isOpen = false;
    if (this.id === null) return;
    try {
      await this.doors.seen(this.id);
    } catch (err) {
      this.log.error({ event: 'verify.closing_lost', err }, "Couldn't record that intake closes");
    }
  }

  /** A word that cannot be written is none: without the database nothing is taken in either. */
  @Interval(EVERY_MS)
  async beat(): Promise<void> {
    if (!this.isOpen) return;
    try {
      if (this.id !== null && (await this.doors.seen(this.id))) return;
      const id = this.ids.next('open');
      await this.doors.opened(id);
      this.id = id;
      if (!(await this.loss.isNews(await this.books.lastComplete()))) return;
      await this.books.nextRunIn(0);
      void this.job.afterOutage();
    } catch (err) {
      this.log.error({ event: 'verify.opening_lost', err }, "Couldn't record that intake is open");
    }
  }
}

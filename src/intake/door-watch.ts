// Writes down, about once a minute, that the doors of this process are open; after an outage that the MoR may not have waited out,
// verify is made at once.
import { Interval } from '@nestjs/schedule';
import { type Clock, type Ids } from '../domain/ports/clock.js';
import { type DoorsLog } from '../domain/ports/loss.js';
import { type VerifyBooks } from '../domain/ports/verify-books.js';
import { type LossWindowFlow } from '../verify/loss-window.flow.js';

const EVERY_MS = 60_000;

export class DoorWatch {
  private id: string | null = null;
  private isOpen = false;

  constructor(
    private readonly doors: DoorsLog,
    private readonly loss: LossWindowFlow,
    private readonly books: VerifyBooks,
    private readonly clock: Clock,
    private readonly ids: Ids,
    /** Makes the verify run that is due now. */
    private readonly verify: () => Promise<void>,
    private readonly onError: (what: string, error: unknown) => void,
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
      await this.doors.seen(this.id, this.clock.now());
    } catch (e) {
      this.onError('that the doors close could not be written down', e);
    }
  }

  /** A word that cannot be written is none: without the database nothing is taken in either. */
  @Interval(EVERY_MS)
  async beat(): Promise<void> {
    if (!this.isOpen) return;
    try {
      const now = this.clock.now();
      if (this.id !== null && (await this.doors.seen(this.id, now))) return;
      const id = this.ids.next('open');
      await this.doors.opened(id, now);
      this.id = id;
      if (!(await this.loss.isNews(await this.books.lastComplete()))) return;
      await this.books.nextRunIn(0);
      void this.verify();
    } catch (e) {
      this.onError('that the doors are open could not be written down', e);
    }
  }
}

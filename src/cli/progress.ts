// Work that lasts, told on stderr while it goes on: one line that changes on a terminal, a line now and then elsewhere.
import { type Io } from './io.js';

const EVERY_MS = 500;
const BAR = 24;

export class Progress {
  private shownAt = 0;
  private shown = false;
  private step = '';

  constructor(private readonly io: Io) {}

  /** Says how far it is, at most twice a second; a bar also when another step begins. */
  say(text: string): void {
    if (Date.now() - this.shownAt < EVERY_MS) return;
    this.shownAt = Date.now();
    this.shown = true;
    this.io.err(this.io.isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
  }

  /** As a bar, where it is known how much there is. `total` 0: nothing to do. */
  bar(what: string, done: number, total: number): void {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    const full = Math.round(part * BAR);
    if (what !== this.step) this.shownAt = 0; // a step that has just begun says so, however short the one before was
    this.step = what;
    this.say(
      `${what} [${'#'.repeat(full)}${'.'.repeat(BAR - full)}] ${Math.floor(part * 100)} % (${done} of ${total})`,
    );
  }

  /** Leaves the line, so that what comes next begins on one of its own. */
  end(): void {
    if (this.shown && this.io.isTerminal) this.io.err('\n');
    this.shown = false;
  }
}

// Shows the progress of long work on stderr: one changing line on a terminal, new lines in a file or a pipe.
import { type Io } from './io.js';

const EVERY_MS = 500;
const BAR = 24;

export class Progress {
  /** The first line waits too: short work shows none. */
  private shownAt = Date.now();
  private shown = false;
  private step = '';

  constructor(private readonly io: Io) {}

  /** Writes a line, at most twice a second. */
  say(text: string): void {
    if (Date.now() - this.shownAt < EVERY_MS) return;
    this.shownAt = Date.now();
    this.shown = true;
    this.io.err(this.io.isTerminal ? `\r${text}\u001b[K` : `${text}\n`);
  }

  /** Draws a progress bar. The first line of a new `what` appears at once. A `total` of 0 means nothing to do. */
  bar(what: string, done: number, total: number): void {
    const part = total === 0 ? 1 : Math.min(1, done / total);
    if (what !== this.step) this.shownAt = 0;
    this.step = what;
    const bar = '#'.repeat(Math.round(part * BAR)).padEnd(BAR, '.');
    this.say(`${what} [${bar}] ${Math.floor(part * 100)} % (${done} of ${total})`);
  }

  /** Removes the changing line from a terminal: the result says what was done. */
  end(): void {
    if (this.shown && this.io.isTerminal) this.io.err('\r\u001b[K');
    this.shown = false;
  }
}

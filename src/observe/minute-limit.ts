// A limit per minute, and a count of the rest: strangers can cause lines and rows without end.

const MINUTE_MS = 60_000;

/** Admits `most` in a minute. A minute begins with the first one. */
export class MinuteLimit {
  private since = -Infinity;
  private through = 0;
  private held = 0;

  constructor(private readonly most: number) {}

  /** The limit of this minute is reached. */
  isFull(nowMs: number): boolean {
    return this.through >= this.most && Math.abs(nowMs - this.since) < MINUTE_MS;
  }

  /**
   * Null: over the limit. The first one of a minute returns the number over the limit in the minute before, the others 0.
   * @param nowMs milliseconds of any one clock, even of one set back
   */
  admit(nowMs: number): number | null {
    if (Math.abs(nowMs - this.since) >= MINUTE_MS) {
      const before = this.held;
      this.since = nowMs;
      this.through = 1;
      this.held = 0;
      return before;
    }
    if (this.through < this.most) {
      this.through++;
      return 0;
    }
    this.held++;
    return null;
  }
}

// So many a minute, and a count of the rest: for lines and rows that strangers can cause without end.

const MINUTE_MS = 60_000;

/** Lets `most` through in a minute, which begins with the first that comes. */
export class MinuteLimit {
  private since = -Infinity;
  private through = 0;
  private held = 0;

  constructor(private readonly most: number) {}

  /** The next one in this minute would be held back. */
  isFull(nowMs: number): boolean {
    return this.through >= this.most && Math.abs(nowMs - this.since) < MINUTE_MS;
  }

  /**
   * Null: this one is held back. Else how many were held back in the minute before, told by the first of a new one; 0 otherwise.
   * @param nowMs milliseconds of any one clock; it may be set back
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

// A limit per minute for log lines and for rows of the audit log: strangers could cause endless lines and rows. Counts
// the lines and rows above the limit.

const MINUTE_MS = 60_000;

/** Admits `most` per minute. The first admission begins a minute. */
export class MinuteLimit {
  private since = -Infinity;
  private through = 0;
  private held = 0;

  constructor(private readonly most: number) {}

  /** Adds the lines or rows the other limit stopped and has not reported yet. */
  absorb(other: MinuteLimit): void {
    this.held += other.held;
  }

  /** True if this minute's limit is reached. */
  isFull(nowMs: number): boolean {
    return this.through >= this.most && Math.abs(nowMs - this.since) < MINUTE_MS;
  }

  /**
   * Admits one more line or row, or returns null at the limit. The first admission of a minute returns how many lines
   * or rows the limit stopped before. Later admissions return 0.
   * @param nowMs milliseconds of any one clock, even if the clock goes back
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

// A limit per minute for log lines and rows. Counts the lines and rows above the limit. Without the limit, strangers
// could cause endless log lines and rows.

const MINUTE_MS = 60_000;

/** Admits `most` per minute. The first admission begins a minute. */
export class MinuteLimit {
  private since = -Infinity;
  private through = 0;
  private held = 0;

  constructor(private readonly most: number) {}

  /** True if this minute's limit is reached. */
  isFull(nowMs: number): boolean {
    return this.through >= this.most && Math.abs(nowMs - this.since) < MINUTE_MS;
  }

  /**
   * Admits one more line or row. Returns null over the limit. The first admission of a minute returns the number of
   * refusals in the last counted minute. The other admissions return 0.
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

// The virtual clock adds all advances to a time source. It fires timers in the order of their due times.

export type TimerHandle = { cancel(): void };

export type ClockOptions = {
  /** Milliseconds since 1970. Left out: the computer's clock. */
  readonly source?: () => number;
  /** True: the clock fires no timer automatically, and the owner calls `runDue` or `advance`. */
  readonly manual?: boolean;
};

type Timer = { due: number; order: number; label: string; run: () => void | Promise<void>; cancelled: boolean };

const LONGEST_NAP_MS = 60_000; // setTimeout takes at most 31 bits; waking early does no harm

export class VirtualClock {
  private readonly source: () => number;
  private readonly manual: boolean;
  private offsetMs = 0;
  private frozenMs: number | null = null;
  private timers: Timer[] = []; // a binary heap, earliest first
  private order = 0;
  private nap: NodeJS.Timeout | null = null;
  private turn: Promise<void> = Promise.resolve(); // advances run one after another
  private advancing = false;
  private closed = false;
  /** `advance` awaits this function after the timers of each instant, so the deliveries under way can end. */
  settle: () => Promise<void> = () => Promise.resolve();

  constructor(options: ClockOptions = {}) {
    this.source = options.source ?? (() => Date.now());
    this.manual = options.manual ?? false;
  }

  /** Virtual time in milliseconds. During an advance: the due time of the timers that fire now. */
  nowMs(): number {
    return this.frozenMs ?? this.source() + this.offsetMs;
  }

  nowSec(): number {
    return Math.floor(this.nowMs() / 1000);
  }

  nowIso(): string {
    return new Date(this.nowMs()).toISOString();
  }

  /**
   * The time of the source, without advances. Signatures use this time, because the receiver compares it with a clock
   * that nobody advances.
   */
  wallMs(): number {
    return this.source();
  }

  /** Calls `run` when virtual time reaches `dueMs`. For a past `dueMs`, calls `run` when timers next fire. */
  at(dueMs: number, label: string, run: () => void | Promise<void>): TimerHandle {
    this.order += 1;
    const timer: Timer = { due: dueMs, order: this.order, label, run, cancelled: false };
    this.push(timer);
    this.arm();
    return { cancel: () => void (timer.cancelled = true) };
  }

  after(ms: number, label: string, run: () => void | Promise<void>): TimerHandle {
    return this.at(this.nowMs() + ms, label, run);
  }

  /** Resolves when `ms` of virtual time have passed. */
  sleep(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, 'sleep', resolve));
  }

  /** The virtual time of the next due timer, in milliseconds. Null: there is none. */
  nextDue(): number | null {
    this.dropCancelled();
    return this.timers[0]?.due ?? null;
  }

  /**
   * Advances virtual time by `ms`. Fires every timer due in between in order, and awaits `settle` after each instant.
   */
  advance(ms: number): Promise<void> {
    const run = this.turn.then(() => this.advanceNow(ms));
    this.turn = run.catch(() => undefined);
    return run;
  }

  /** Fires the due timers. A manual clock needs this call; any other clock fires them automatically. */
  runDue(): Promise<void> {
    return this.advance(0);
  }

  close(): void {
    this.closed = true;
    if (this.nap !== null) clearTimeout(this.nap);
    this.timers = [];
  }

  private async advanceNow(ms: number): Promise<void> {
    await this.settle(); // deliveries already under way must end before the time moves
    const target = this.nowMs() + ms;
    this.advancing = true;
    try {
      for (let due = this.nextDue(); due !== null && due <= target && !this.closed; due = this.nextDue()) {
        this.frozenMs = Math.max(due, this.frozenMs ?? 0);
        while (this.nextDue() === due) this.fireFirst();
        await this.settle();
      }
    } finally {
      this.offsetMs += ms;
      this.frozenMs = null;
      this.advancing = false;
      this.arm();
    }
  }

  private fireFirst(): void {
    const timer = this.pop();
    if (timer === undefined || timer.cancelled) return;
    // A failing timer must not stop the clock. The work of the timer is lost, as after a crash of Stripe or the MoR.
    try {
      const result = timer.run();
      if (result instanceof Promise) result.catch((error: unknown) => this.report(timer.label, error));
    } catch (error) {
      this.report(timer.label, error);
    }
  }

  private report(label: string, error: unknown): void {
    process.stderr.write(`sandbox timer ${label} failed: ${error instanceof Error ? error.stack : String(error)}\n`);
  }

  private arm(): void {
    if (this.manual || this.closed || this.advancing) return;
    if (this.nap !== null) clearTimeout(this.nap);
    this.nap = null;
    const due = this.nextDue();
    if (due === null) return;
    const wait = Math.min(Math.max(0, due - this.nowMs()), LONGEST_NAP_MS);
    this.nap = setTimeout(() => this.signal(), wait);
  }

  // Fires each due timer without waiting for its work, so a slow receiver delays no other timer.
  private signal(): void {
    for (let due = this.nextDue(); due !== null && due <= this.nowMs(); due = this.nextDue()) this.fireFirst();
    this.arm();
  }

  private dropCancelled(): void {
    while (this.timers[0]?.cancelled === true) this.pop();
  }

  private push(timer: Timer): void {
    const heap = this.timers;
    let i = heap.push(timer) - 1;
    while (i > 0) {
      const up = (i - 1) >> 1;
      const parent = heap[up];
      if (parent === undefined || !before(timer, parent)) break;
      heap[i] = parent;
      i = up;
    }
    heap[i] = timer;
  }

  private pop(): Timer | undefined {
    const heap = this.timers;
    const first = heap[0];
    const last = heap.pop();
    if (first === undefined || last === undefined || heap.length === 0) return first;
    let i = 0;
    for (;;) {
      let child = 2 * i + 1;
      const left = heap[child];
      const right = heap[child + 1];
      if (left === undefined) break;
      let least = left;
      if (right !== undefined && before(right, left)) {
        least = right;
        child += 1;
      }
      if (!before(least, last)) break;
      heap[i] = least;
      i = child;
    }
    heap[i] = last;
    return first;
  }
}

function before(one: Timer, other: Timer): boolean {
  return one.due < other.due || (one.due === other.due && one.order < other.order);
}

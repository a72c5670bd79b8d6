// The request budget in PostgreSQL: one row says up to when it is spent, so that all replicas together keep one pace.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { Database } from './database.js';

/** How many requests are taken at once: one statement for several calls when there is much to do. */
const MOST_AT_ONCE = 8;
/** Unused time is not saved up beyond this, in milliseconds: after a pause there is no burst above the pace. */
const SLACK_MS = 50;

// Moves the row on by as many slots as are wanted and says where they begin. The server's clock is the one that all replicas share.
const TAKE_SQL = `
  insert into request_budget as b (name, spent_to)
  values ($1, clock_timestamp() + make_interval(secs => $2::float8 * $3::int / 1000))
  on conflict (name) do update set spent_to =
    greatest(b.spent_to, clock_timestamp() - make_interval(secs => $4::float8 / 1000)) + make_interval(secs => $2::float8 * $3::int / 1000)
  returning extract(epoch from spent_to - clock_timestamp()) * 1000 as ends_in_ms`;

@Injectable()
export class PgRequestBudget extends RequestBudget {
  private waiting: { resolve: () => void; reject: (e: unknown) => void }[] = [];
  private asking = false;
  private holdUntilMs = 0;

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly perSecond: number,
  ) {
    super();
  }

  take(_endpoint: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waiting.push({ resolve, reject });
      if (!this.asking) void this.ask();
    });
  }

  throttled(_endpoint: string, retryAfterMs: number | null): void {
    const until = this.clock.now().getTime() + (retryAfterMs ?? 1_000);
    this.holdUntilMs = Math.max(this.holdUntilMs, until);
  }

  private async ask(): Promise<void> {
    this.asking = true;
    while (this.waiting.length > 0) {
      const turn = this.waiting.splice(0, MOST_AT_ONCE);
      try {
        const gapMs = 1_000 / this.perSecond;
        const taken = await this.db.pool.query<{ ends_in_ms: string }>(TAKE_SQL, [
          'stripe',
          gapMs,
          turn.length,
          SLACK_MS,
        ]);
        const endsInMs = Number(taken.rows[0]?.ends_in_ms ?? 0);
        await this.hand(turn, endsInMs - gapMs * turn.length, gapMs);
      } catch (e) {
        for (const t of turn) t.reject(e);
      }
    }
    this.asking = false;
  }

  /** Lets each request go when its slot begins. */
  private async hand(turn: typeof this.waiting, startsInMs: number, gapMs: number): Promise<void> {
    const base = this.clock.now().getTime() + startsInMs;
    for (const [i, t] of turn.entries()) {
      const at = Math.max(base + i * gapMs, this.holdUntilMs);
      const wait = at - this.clock.now().getTime();
      if (wait > 1) await this.clock.sleep(wait);
      t.resolve();
    }
  }
}

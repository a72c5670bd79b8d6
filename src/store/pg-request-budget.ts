// The request budget in PostgreSQL: a row for the account and one for each endpoint say up to when they are spent, so that all
// replicas together keep one pace, and slow down together when Stripe answers 429.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { RequestBudget } from '../domain/ports/request-budget.js';
import { Database } from './database.js';

const ACCOUNT = 'stripe';
const rowOf = (endpoint: string): string => `${ACCOUNT}:${endpoint}`;

/** Stripe gives one endpoint 25 requests a second where it gives an account 100 (Stripe docs, "Rate limits"). */
const ENDPOINT_LEAST = 25;
const ENDPOINT_PART = 0.25;
/** What is taken at once lasts an endpoint this long at most, in milliseconds: a replica never holds more than that. */
const BLOCK_MS = 250;
/** Unused time is not saved up beyond this, in milliseconds: after a pause there is no burst above the pace. */
const SLACK_MS = 50;
/** A pause after a 429 that names none, and the longest that one can ask of every other request, in milliseconds. */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** Nobody waits longer than this, in milliseconds: a budget spent further ahead was spent by a clock that has been set back since. */
const LONGEST_WAIT_MS = 15 * 60_000;

// A 429 halves the pace, at most once a second: one crowd of 429s is one sign. A tenth of the whole comes back each second.
// The server's clock may have been set back since.
const SHARE_NOW = `least(1, b.share + 0.1 * greatest(0, coalesce(extract(epoch from now() - b.slowed_at), 0)))`;
const JUST_SLOWED = `b.slowed_at > now() - interval '1 second'`;
// What is lost of a budget in a crash of the server harms nobody: its commits wait for no disk.
const QUICK = `(select set_config('synchronous_commit', 'off', true)) as quick`;

// Moves each row on by as many slots as are wanted and says where they end. The server's clock is the one that all replicas share.
const TAKE_SQL = `
  insert into request_budget as b (name, spent_to)
  select t.name, now() + make_interval(secs => t.whole_ms / 1000)
    from unnest($1::text[], $2::float8[]) as t(name, whole_ms), ${QUICK} order by t.name
  on conflict (name) do update set spent_to =
    case when b.spent_to > now() + make_interval(secs => ${LONGEST_WAIT_MS} / 1000) then now()
         else greatest(b.spent_to, now() - make_interval(secs => ${SLACK_MS} / 1000.0)) end + (excluded.spent_to - now()) / ${SHARE_NOW}
  returning b.name, ${SHARE_NOW} as share, extract(epoch from b.spent_to - clock_timestamp()) * 1000 as ends_in_ms`;

const SLOW_SQL = `
  insert into request_budget as b (name, spent_to, share, slowed_at)
  select $1::text, now() + make_interval(secs => $2::float8 / 1000), 0.5, now() from ${QUICK}
  on conflict (name) do update set
    spent_to = greatest(b.spent_to, excluded.spent_to),
    share = case when ${JUST_SLOWED} then b.share else greatest(0.1, ${SHARE_NOW} / 2) end,
    slowed_at = case when ${JUST_SLOWED} then b.slowed_at else now() end`;

type Request = { readonly resolve: () => void; readonly reject: (e: unknown) => void };
type Turn = { readonly endpoint: string; readonly requests: readonly Request[] };
/** Slots in a row: when the first begins, and the distance of the others, in milliseconds. */
type Slots = { readonly startMs: number; readonly gapMs: number };

@Injectable()
export class PgRequestBudget extends RequestBudget {
  private readonly waiting = new Map<string, Request[]>();
  /** Endpoints whose last block is not handed out yet. */
  private readonly handing = new Set<string>();
  private readonly heldUntilMs = new Map<string, number>();
  private asking = false;
  private readonly endpointPerSecond: number;

  /** `perSecond`: of the account, all replicas together. */
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly perSecond: number,
  ) {
    super();
    this.endpointPerSecond = Math.max(ENDPOINT_LEAST, perSecond * ENDPOINT_PART);
  }

  take(endpoint: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const queue = this.waiting.get(endpoint);
      if (queue === undefined) this.waiting.set(endpoint, [{ resolve, reject }]);
      else queue.push({ resolve, reject });
      void this.ask();
    });
  }

  throttled(endpoint: string, retryAfterMs: number | null, reason: string | null): void {
    // A limit of one route, or of one object that the route is about, says nothing of the others.
    const name = reason !== null && /^(endpoint-|resource-)/.test(reason) ? rowOf(endpoint) : ACCOUNT;
    const pauseMs = Math.min(retryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS);
    const until = this.clock.now().getTime() + pauseMs;
    this.heldUntilMs.set(name, Math.max(this.heldUntilMs.get(name) ?? 0, until)); // what this process took before waits too
    // Not written down: this process pauses all the same, and the next 429 tells the others.
    this.db.pool.query(SLOW_SQL, [name, pauseMs]).catch(() => undefined);
  }

  /** One statement at a time, for all that wait. */
  private async ask(): Promise<void> {
    if (this.asking) return;
    this.asking = true;
    await Promise.resolve(); // whoever asks in the same turn of the loop comes along
    for (let turns = this.nextTurns(); turns.length > 0; turns = this.nextTurns()) {
      try {
        const slots = await this.slotsFor(turns);
        for (const [i, turn] of turns.entries()) void this.hand(turn, slots[i] ?? []);
      } catch (e) {
        for (const { endpoint, requests } of turns) {
          this.handing.delete(endpoint);
          for (const r of requests) r.reject(e);
        }
      }
    }
    this.asking = false;
  }

  private nextTurns(): readonly Turn[] {
    const most = Math.max(1, Math.floor((Math.min(this.perSecond, this.endpointPerSecond) * BLOCK_MS) / 1000));
    const turns: Turn[] = [];
    for (const [endpoint, queue] of this.waiting) {
      if (this.handing.has(endpoint)) continue;
      const requests = queue.splice(0, most);
      if (queue.length === 0) this.waiting.delete(endpoint);
      turns.push({ endpoint, requests });
      this.handing.add(endpoint);
    }
    return turns;
  }

  /** For each turn its slots of the endpoint and its slots of the account. */
  private async slotsFor(turns: readonly Turn[]): Promise<readonly (readonly Slots[])[]> {
    const all = turns.reduce((n, t) => n + t.requests.length, 0);
    const gaps = { account: 1_000 / this.perSecond, endpoint: 1_000 / this.endpointPerSecond };
    const names = [ACCOUNT, ...turns.map((t) => rowOf(t.endpoint))];
    const wholeMs = [all * gaps.account, ...turns.map((t) => t.requests.length * gaps.endpoint)];
    const taken = await this.db.pool.query<{ name: string; share: string; ends_in_ms: string }>({
      name: 'budget_take',
      text: TAKE_SQL,
      values: [names, wholeMs],
    });
    const now = this.clock.now().getTime();
    const rows = new Map(taken.rows.map((r) => [r.name, r]));
    const slots = (name: string, count: number, wholeGapMs: number): Slots => {
      const row = rows.get(name);
      const gapMs = wholeGapMs / Number(row?.share ?? 1);
      return { startMs: now + Number(row?.ends_in_ms ?? 0) - count * gapMs, gapMs };
    };
    const account = slots(ACCOUNT, all, gaps.account);
    let before = 0;
    return turns.map(({ endpoint, requests }) => {
      const startMs = account.startMs + before * account.gapMs;
      before += requests.length;
      return [slots(rowOf(endpoint), requests.length, gaps.endpoint), { ...account, startMs }];
    });
  }

  /** Lets each request go when both its slots have begun. */
  private async hand({ endpoint, requests }: Turn, slots: readonly Slots[]): Promise<void> {
    for (const [i, request] of requests.entries()) {
      const begin = Math.max(...slots.map((s) => s.startMs + i * s.gapMs));
      for (;;) {
        const held = Math.max(this.heldUntilMs.get(ACCOUNT) ?? 0, this.heldUntilMs.get(rowOf(endpoint)) ?? 0);
        const wait = Math.max(begin, held) - this.clock.now().getTime();
        if (wait <= 1 || wait > LONGEST_WAIT_MS) break; // longer: our own clock was set back
        await this.clock.sleep(wait); // a 429 in the meantime makes it longer
      }
      request.resolve();
    }
    this.handing.delete(endpoint);
    if (this.waiting.has(endpoint)) void this.ask();
  }
}

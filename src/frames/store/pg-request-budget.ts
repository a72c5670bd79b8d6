// The request budget in PostgreSQL. Each replica takes a slice of the account's pace and of each endpoint's pace for
// one second, as large as it needs. Together the replicas keep the pace, and all slow down after a 429 from Stripe.
import { randomUUID } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { Clock } from '../../shared/domain/ports/clock.js';
import { RequestBudget } from '../../shared/domain/ports/request-budget.js';
import { grant, liveSlices, SLICE_MS, storedSlices } from './budget-slices.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { caller, Database, onConnection } from './database.js';

const ACCOUNT = 'stripe';
const rowOf = (endpoint: string): string => `${ACCOUNT}:${endpoint}`;

/** Stripe allows one endpoint 25 requests a second if it allows the account 100 (Stripe docs, "Rate limits"). */
const ENDPOINT_LEAST = 25;
const ENDPOINT_PART = 0.25;
/**
 * A replica that sent nothing for a while may catch up only this much time, in milliseconds. So no burst above the pace
 * follows a pause.
 */
const SLACK_MS = 50;
/**
 * The pause after a 429 of Stripe without a Retry-After header, in milliseconds. With this header the pause is at most
 * `LONGEST_PAUSE_MS`.
 */
const PAUSE_MS = 1_000;
const LONGEST_PAUSE_MS = 60_000;
/** An endpoint without requests in this time, in milliseconds, drops out of the slices. */
const FORGOTTEN_MS = 60_000;
/**
 * If a slice is too small, the replica asks for a larger slice, but no earlier than this long after it took the small
 * slice, in milliseconds.
 */
const GROW_MS = 250;

const NOW = timeSql(1);
// The share of the full pace now. A 429 from Stripe halves the share, at most once a second, since several 429s may
// come together. Each second a tenth of the full pace returns. `greatest` is for a server clock that was set back.
const SHARE_NOW = `least(1, b.share + 0.1 * greatest(0, coalesce(extract(epoch from ${NOW} - b.slowed_at), 0)))`;
const JUST_SLOWED = `b.slowed_at > ${NOW} - interval '1 second'`;

// The slices are worth nothing after a crash of the server, so the commits do not wait for the disk. If a replica hangs
// within the transaction, the other replicas wait no longer than this timeout.
const BEGIN = `begin; set local synchronous_commit = off; set local idle_in_transaction_session_timeout = '3s'`;

const LOCK_SQL = `
  select b.name, b.slices, ${SHARE_NOW} as share, extract(epoch from ${NOW}) * 1000 as now_ms,
         extract(epoch from b.paused_until - ${NOW}) * 1000 as paused_ms
    from request_budget b where b.name = any($2::text[]) order by b.name for update`;

const SLOW_SQL = `
  insert into request_budget as b (name, paused_until, share, slowed_at)
  values ($2::text, ${NOW} + make_interval(secs => $3::float8 / 1000), 0.5, ${NOW})
  on conflict (name) do update set
    paused_until = greatest(b.paused_until, excluded.paused_until),
    share = case when ${JUST_SLOWED} then b.share else greatest(0.1, ${SHARE_NOW} / 2) end,
    slowed_at = case when ${JUST_SLOWED} then b.slowed_at else ${NOW} end`;

type Row = { name: string; slices: unknown; share: number; now_ms: string; paused_ms: string | null };
type Request = { readonly turn: number; readonly resolve: () => void; readonly reject: (error: unknown) => void };

/**
 * The pace of the account or of one endpoint, as this replica uses it. Times are by this process's clock, in
 * milliseconds since 1970.
 */
type Line = {
  readonly name: string;
  /**
   * Waiting requests, oldest first. The line of the whole Stripe account has none: each request waits in the line of
   * its endpoint.
   */
  readonly waiting: Request[];
  perSecond: number;
  /** The time of the last request on this line. */
  lastMs: number;
  /** After a 429 no request goes out before this time. */
  heldUntilMs: number;
  askedForMs: number;
  /**
   * `sent`: requests since this replica last asked for a slice. `wanted`: the pace it asked for, in requests a second.
   */
  sent: number;
  wanted: number;
};

@Injectable()
export class PgRequestBudget extends RequestBudget {
  private readonly replica = randomUUID();
  private readonly account = newLine(ACCOUNT, 0);
  private readonly endpoints = new Map<string, Line>();
  private turns = 0;
  private serving = false;
  /** The present slice is valid from `takenMs` to `endsMs`, by this process's clock. */
  private takenMs = 0;
  private endsMs = 0;
  /** True if the current slice lacks an endpoint, or is older than the last 429. */
  private outdated = true;
  private slowing: Promise<unknown> = Promise.resolve();
  /** Wakes the loop of `serve` for a new request: perhaps this request can go out at once. */
  private tap: (() => void) | null = null;
  private readonly endpointPerSecond: number;

  /** `perSecond`: the pace of the account, for all replicas together. */
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
    private readonly time: DatabaseTime,
    private readonly perSecond: number,
  ) {
    super();
    this.endpointPerSecond = Math.max(ENDPOINT_LEAST, perSecond * ENDPOINT_PART);
  }

  take(endpoint: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const line = this.lineOf(endpoint);
      line.askedForMs = this.nowMs();
      line.waiting.push({ turn: this.turns++, resolve, reject });
      this.tap?.();
      void this.serve();
    });
  }

  throttled(endpoint: string, retryAfterMs: number | null, reason: string | null): void {
    // A limit on one route, or on one object of it, does not limit other routes.
    const line = reason !== null && /^(endpoint-|resource-)/.test(reason) ? this.lineOf(endpoint) : this.account;
    const pauseMs = Math.min(retryAfterMs ?? PAUSE_MS, LONGEST_PAUSE_MS);
    this.hold(line, pauseMs);
    this.outdated = true;
    // A failed write does no harm: this process pauses anyway, and the next 429 informs the other replicas.
    const slow = (): Promise<unknown> => this.db.pool.query(SLOW_SQL, [this.time.given(), line.name, pauseMs]);
    this.slowing = caller.run('work', slow).catch(() => undefined);
  }

  /** Lets waiting requests go, each at its time. Only one loop runs at a time. */
  private async serve(): Promise<void> {
    if (this.serving) return;
    this.serving = true;
    await Promise.resolve(); // also serve requests from the same turn of the event loop
    for (let waiting = this.waiting(); waiting.length > 0; waiting = this.waiting()) {
      const now = this.nowMs();
      if (!this.holdsSlice(now)) {
        await caller.run('work', () => this.ask(now)).catch((e: unknown) => this.rejectAll(e));
        continue;
      }
      const next = this.next(waiting, now);
      if (next.atMs <= now + 1) this.send(next.line, now);
      else await this.wait(Math.min(next.atMs, this.endsMs) - now);
    }
    this.serving = false;
  }

  private waiting(): readonly Line[] {
    return [...this.endpoints.values()].filter((line) => line.waiting.length > 0);
  }

  /**
   * The line with the oldest request allowed to go out now. If all requests must wait, the line with the shortest wait.
   * `atMs`: the time of this request.
   */
  private next(waiting: readonly Line[], now: number): { readonly line: Line; readonly atMs: number } {
    const accountMs = slotOf(this.account, now);
    const slots = waiting.map((line) => ({ line, atMs: Math.max(accountMs, slotOf(line, now)) }));
    const first = Math.min(...slots.map((s) => s.atMs));
    const turn = (line: Line): number => line.waiting[0]?.turn ?? Infinity;
    const [next] = slots.filter((s) => s.atMs <= Math.max(first, now)).sort((a, b) => turn(a.line) - turn(b.line));
    if (next === undefined) throw new Error('nobody waits for the request budget');
    return next;
  }

  private send(line: Line, now: number): void {
    for (const used of [this.account, line]) {
      used.lastMs = slotOf(used, now);
      used.sent++;
    }
    line.waiting.shift()?.resolve();
  }

  private async wait(ms: number): Promise<void> {
    const waiting = new AbortController();
    this.tap = () => waiting.abort();
    await this.clock.sleep(ms, waiting.signal);
    this.tap = null;
  }

  private holdsSlice(now: number): boolean {
    // The slice starts in the future: this process's clock was set back.
    if (this.outdated || now < this.takenMs || now >= this.endsMs) return false;
    const outgrown = this.queued() > 2 * this.account.wanted + 1; // many more requests wait than this replica asked for
    return !outgrown || now - this.takenMs < GROW_MS;
  }

  private queued(): number {
    return this.waiting().reduce((n, line) => n + line.waiting.length, 0);
  }

  /** Asks for a slice of the account's pace, and of each used endpoint's pace, in one short transaction. */
  private async ask(now: number): Promise<void> {
    await this.slowing;
    this.outdated = false;
    for (const [endpoint, line] of this.endpoints) {
      const forgotten = line.waiting.length === 0 && line.askedForMs < now - FORGOTTEN_MS && line.heldUntilMs < now;
      if (forgotten) this.endpoints.delete(endpoint);
    }
    const lines = [this.account, ...this.endpoints.values()];
    const seconds = Math.max(GROW_MS, now - this.takenMs) / 1_000;
    for (const line of lines) {
      const queued = line === this.account ? this.queued() : line.waiting.length;
      line.wanted = queued / (SLICE_MS / 1_000) + line.sent / seconds;
      line.sent = 0;
    }
    this.takenMs = now;
    const freeInMs = await onConnection(this.db.pool, (db) => this.exchange(db, lines));
    // A replica without a share asks again at the end of the next slice of another replica.
    this.endsMs = now + Math.min(SLICE_MS, freeInMs);
  }

  /**
   * Writes this replica's slices. If the other replicas have the whole pace, returns the milliseconds until a part of
   * the pace is free again. If not, returns Infinity.
   */
  private async exchange(db: pg.PoolClient, lines: readonly Line[]): Promise<number> {
    const names = lines.map((line) => line.name);
    const lock = (): Promise<pg.QueryResult<Row>> =>
      db.query<Row>({ name: 'budget_lock', text: LOCK_SQL, values: [this.time.given(), names] });
    let [, { rows }] = await Promise.all([db.query(BEGIN), lock()]);
    if (rows.length < names.length) {
      await db.query(
        'insert into request_budget (name) select * from unnest($1::text[]) as name order by name on conflict do nothing',
        [names],
      );
      ({ rows } = await lock());
    }
    let freeInMs = Infinity;
    const slices = rows.map((row) => {
      const line = lines.find((l) => l.name === row.name);
      const nowMs = Number(row.now_ms);
      const live = new Map(liveSlices(row.slices, nowMs));
      live.delete(this.replica);
      if (line !== undefined) {
        const pace = (line === this.account ? this.perSecond : this.endpointPerSecond) * Number(row.share);
        const perSecond = grant(pace, line.wanted, [...live.values()], nowMs);
        line.perSecond = perSecond;
        if (perSecond === 0) freeInMs = Math.min(freeInMs, ...[...live.values()].map((s) => s.untilMs - nowMs));
        const pausedMs = Number(row.paused_ms ?? 0);
        // a longer pause means that the server's clock was set back
        if (pausedMs <= LONGEST_PAUSE_MS) this.hold(line, pausedMs);
        live.set(this.replica, { perSecond, wanted: line.wanted, untilMs: Math.ceil(nowMs) + SLICE_MS });
      }
      return storedSlices(live);
    });
    await Promise.all([
      db.query({
        name: 'budget_keep',
        text: `update request_budget b set slices = v.slices::jsonb
                 from unnest($1::text[], $2::text[]) as v(name, slices) where b.name = v.name`,
        values: [rows.map((row) => row.name), slices],
      }),
      db.query('commit'),
    ]);
    return Math.max(SOONEST_MS, freeInMs);
  }

  private hold(line: Line, pauseMs: number): void {
    if (pauseMs > 0) line.heldUntilMs = Math.max(line.heldUntilMs, this.nowMs() + pauseMs);
  }

  private rejectAll(error: unknown): void {
    this.outdated = true;
    for (const line of this.endpoints.values()) for (const r of line.waiting.splice(0)) r.reject(error);
  }

  private lineOf(endpoint: string): Line {
    const known = this.endpoints.get(endpoint);
    if (known !== undefined) return known;
    const line = newLine(rowOf(endpoint), this.nowMs());
    this.endpoints.set(endpoint, line);
    this.outdated = true;
    return line;
  }

  private nowMs(): number {
    return this.clock.now().getTime();
  }
}

/** A replica without a share waits at least this long before it asks again, in milliseconds. */
const SOONEST_MS = 20;

function newLine(name: string, now: number): Line {
  return { name, waiting: [], perSecond: 0, lastMs: 0, heldUntilMs: 0, askedForMs: now, sent: 0, wanted: 0 };
}

/**
 * The time of the next request. If the stored time is further away than any pause, this clock was set back: ignore the
 * stored time.
 */
function slotOf(line: Line, now: number): number {
  if (line.perSecond === 0) return Infinity;
  const gapMs = 1_000 / line.perSecond;
  const last = line.lastMs > now + gapMs ? 0 : line.lastMs;
  const held = line.heldUntilMs > now + LONGEST_PAUSE_MS ? 0 : line.heldUntilMs;
  return Math.max(last + gapMs, now - SLACK_MS, held);
}

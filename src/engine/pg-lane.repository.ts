// Lanes in PostgreSQL: workers claim them from the queue, read their logs, and write steps in shared commits.
import { Injectable } from '@nestjs/common';
import { type Claim, LaneRepository, LaneUnreadable, type LaneWork } from './lane.repository.js';
import { factToJson } from '../shared/domain/fact.js';
import { REVIEW, type ReviewRow } from '../shared/domain/review-row.js';
import { insertSql, jsonText, toJson } from '../frames/store/codec.js';
import { DatabaseTime, laterSql, readTime, timeSql } from '../frames/store/database-time.js';
import { Database, inTransaction } from '../frames/store/database.js';
import { releaseFor } from '../frames/store/queue.js';
import { type Loaded, type QueuedLane } from './lane-reader.js';
import { LaneWriter } from './lane-writer.js';
import { type WriteOptions } from './step-commit.js';

// Claims due lanes without a lease, the longest due first. If a caller waits for a lane, its due time is the epoch
// (1970), so this lane comes first. The statement reads the queue in the order of its index until it has enough lanes.
// Lanes under a lease stand at the head of the queue, but they are few. If another transaction has locked a row, the
// statement skips it. Lanes with the same due time go in the order of their keys, whatever plan the server chooses.
const NOW = timeSql(1);
const CLAIM_SQL = `
  with due as materialized (
    select key from lane where due_at <= ${NOW} and (lease_until is null or lease_until <= ${NOW})
     order by due_at, key limit (select $2::int) for update skip locked)
  update lane l set fence = nextval('lane_fence'), lease_owner = $3, lease_until = ${laterSql(1, 4)}
   where l.key = any (array(select key from due))
  returning l.key, l.fence, l.news, l.due_at`;

// Renews the leases of lanes with an unchanged fence.
const RENEW_SQL = `
  with held as materialized (
    select l.key from lane l where l.key = any($2::text[]) and l.lease_until is not null
       and l.fence = any($3::bigint[]) order by l.key for update)
  update lane l set lease_until = ${laterSql(1, 4)} where l.key = any (array(select key from held)) returning l.key`;

@Injectable()
export class PgLaneRepository extends LaneRepository {
  private readonly writer: LaneWriter;

  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
    options: Partial<WriteOptions> & Pick<WriteOptions, 'parsed'>,
  ) {
    super();
    this.writer = new LaneWriter(db.pool, clock, options);
  }

  time(): Promise<Date> {
    return readTime(this.db.pool, this.clock);
  }

  async claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]> {
    const found = await this.db.pool.query<{ key: string; fence: string; news: string; due_at: Date }>({
      name: 'claim',
      text: CLAIM_SQL,
      values: [this.clock.given(), limit, owner, leaseMs],
    });
    if (found.rows.length === 0) return [];
    const taken = found.rows
      .toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime() || (a.key < b.key ? -1 : 1))
      .map((r) => ({ lane: r.key, fence: BigInt(r.fence), news: BigInt(r.news) }));
    const loaded = await this.readable(taken);
    return taken.map(({ lane, fence }) => ({ lane, fence, events: loaded.get(lane)?.events ?? [] }));
  }

  /** Reads claimed lanes. An unreadable lane does not hold up the others: its worker gets the error later. */
  private async readable(taken: readonly QueuedLane[]): Promise<ReadonlyMap<string, Loaded>> {
    try {
      return await this.writer.steps.keep(taken);
    } catch (e) {
      if (!(e instanceof LaneUnreadable)) throw e;
      if (taken.length === 1) return new Map();
      const each: [string, Loaded][] = [];
      for (const one of taken) each.push(...(await this.readable([one])));
      return new Map(each);
    }
  }

  async renew(held: readonly Pick<Claim, 'lane' | 'fence'>[], leaseMs: number): Promise<ReadonlySet<string>> {
    const renewed = await this.db.pool.query<{ key: string }>({
      name: 'renew',
      text: RENEW_SQL,
      values: [this.clock.given(), held.map((h) => h.lane), held.map((h) => h.fence.toString()), leaseMs],
    });
    return new Set(renewed.rows.map((r) => r.key));
  }

  transact<T>(work: LaneWork<T>): Promise<T> {
    return this.writer.submit(work);
  }

  async release(lane: string, fence: bigint, dueInMs?: number): Promise<void> {
    this.writer.steps.forget(lane);
    await this.db.pool.query(
      `update lane set lease_until = null, lease_owner = null, due_at = coalesce(${laterSql(3, 4)}, due_at)
        where key = $1 and fence = $2`,
      [lane, fence, this.clock.given(), dueInMs ?? null],
    );
  }

  async postpone(
    { lane, fence }: Pick<Claim, 'lane' | 'fence'>,
    { event, reason }: { readonly event: bigint; readonly reason: string },
    retryInMs: number,
    parkAfter: number,
  ): Promise<boolean> {
    this.writer.steps.forget(lane);
    return inTransaction(this.db.pool, async (db) => {
      const held = await db.query('select key from lane where key = $1 and fence = $2 for update', [lane, fence]);
      if (held.rowCount !== 1) return true; // another worker has claimed the lane
      const blamed = await db.query(
        `update inbox_event set attempts = attempts + 1, next_try_at = ${laterSql(2, 3)}, reason = $4,
                status = case when attempts + 1 >= $5 then 'parked' else status end,
                decided_at = case when attempts + 1 >= $5 then ${timeSql(2)} else null end
          where id = $6 and lane = $1 and status = 'received'`,
        [lane, this.clock.given(), retryInMs, reason.slice(0, 500), parkAfter, event.toString()],
      );
      await releaseFor(db, lane, this.clock.given(), retryInMs);
      return blamed.rowCount === 1;
    });
  }

  async tell(item: ReviewRow): Promise<void> {
    const known = await this.db.pool.query(
      `select 1 from review where kind = $1 and subject = $2 and resolution = 'dismiss' and fact = $3::jsonb`,
      [item.kind, item.subject, jsonText(factToJson(item.fact))],
    );
    if (known.rowCount !== 0) return;
    await this.db.pool.query(`${insertSql(REVIEW)} on conflict do nothing`, [jsonText([toJson(REVIEW, item)])]);
  }
}

// Lanes in PostgreSQL: claims with a lease and a fence, and one short transaction per decision.
import { Injectable } from '@nestjs/common';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type Claim, LaneStore, type LaneWork } from '../domain/ports/lane-store.js';
import { type DatabaseTime, laterSql, readTime, timeSql } from './database-time.js';
import { Database, inTransaction, oneFlight, onConnection } from './database.js';
import { beginSql } from './kept-plans.js';
import { waits } from './lane-rows.js';
import { LaneTransactions } from './lane-transactions.js';

/** Events of a lane that its log lines name. */
const NAMED = 3;

/** Of `pg_advisory_xact_lock`: one claim at a time, so that two at once take the next lanes and not the same. A claim lasts a millisecond. */
const CLAIMS = 7_410_259_361;
const TURN_SQL = `select pg_advisory_xact_lock(${CLAIMS})`;

// The oldest lanes with something due that nobody holds, and what waits there; written so that there is no plan that reads more:
// both halves of what is due stop early on a small partial index in its order, lanes are looked up by their keys, and nothing is joined.
// A limit whose value cannot be seen is taken for a small part of what there is; whoever sees a large one sorts everything first.
// A row that another transaction has locked (an API call that decides) waits for the next claim; claims do not wait for it.
const NOW = timeSql(1);
const FREE = `(l.lease_until is null or l.lease_until <= ${NOW})`;
const CLAIM_SQL = `
  with due as materialized (
    (select e.lane as key, e.next_try_at as at from inbox_event e
      where e.status = 'received' and e.next_try_at <= ${NOW}
        and (select ${FREE} from lane l where l.key = e.lane) is not false
      order by e.next_try_at, e.id limit (select $2::int * 2))
    union all
    (select l.key, l.due_at from lane l
      where l.due_at <= ${NOW} and ${FREE}
      order by l.due_at limit (select $2::int))
  ), oldest as materialized (
    select key, min(at) as at from due group by key order by at, key limit $2
  ), free as materialized (
    select l.key from lane l where l.key = any (array(select key from oldest)) and ${FREE} for update skip locked
  ), claimed as (
    insert into lane as l (key, fence, lease_owner, lease_until)
    select o.key, nextval('lane_fence'), $3, ${laterSql(1, 4)} from oldest o
     where o.key in (select key from free) or (select true from lane l where l.key = o.key) is null
     order by o.key -- as everybody locks them, so that two transactions never wait for each other
    on conflict (key) do update
      set fence = excluded.fence, lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
      where ${FREE}
    returning l.key, l.fence)
  select c.key, c.fence, t.types,
         (select json_agg(json_build_array(n.source, n.event_id))
            from (select e.source, e.event_id from inbox_event e
                   where e.lane = c.key and (cardinality(t.types) = 0 or ${waits(1)}) order by e.id desc limit ${NAMED}) n) as named
    from claimed c join oldest o on o.key = c.key cross join lateral (
      select array(select distinct e.type from inbox_event e where e.lane = c.key and ${waits(1)}) as types offset 0) t
   order by o.at, o.key`;

type Row = {
  readonly key: string;
  readonly fence: string;
  readonly types: string[];
  readonly named: (readonly [source: InboxSource, eventId: string])[] | null;
};

@Injectable()
export class PgLaneStore extends LaneStore {
  private readonly transactions: LaneTransactions;

  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
  ) {
    super();
    this.transactions = new LaneTransactions(db.pool, clock);
  }

  time(): Promise<Date> {
    return readTime(this.db.pool, this.clock);
  }

  async claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]> {
    const claimed = await onConnection(this.db.pool, async (db) => {
      const values = [this.clock.given(), limit, owner, leaseMs];
      const [, , found] = await oneFlight(db, () => [
        db.query(beginSql(db)),
        db.query(TURN_SQL),
        db.query<Row>({ name: 'claim', text: CLAIM_SQL, values }),
        db.query('commit'),
      ]);
      return found.rows;
    });
    return claimed.map(({ key: lane, fence, types: waitingTypes, named }) => {
      const events = (named ?? []).map(([source, eventId]) => ({ source, eventId }));
      return { lane, fence: BigInt(fence), waitingTypes, events };
    });
  }

  async renew(lane: string, fence: bigint, leaseMs: number): Promise<boolean> {
    const renewed = await this.db.pool.query(
      `update lane set lease_until = ${laterSql(3, 4)} where key = $1 and fence = $2 and lease_until is not null`,
      [lane, fence, this.clock.given(), leaseMs],
    );
    return renewed.rowCount === 1;
  }

  transact<T>(work: LaneWork<T>): Promise<T> {
    return this.transactions.submit(work);
  }

  async release(lane: string, fence: bigint, dueInMs?: number): Promise<void> {
    this.transactions.forget(lane);
    await this.db.pool.query(
      `update lane set lease_until = null, lease_owner = null, due_at = coalesce(${laterSql(3, 4)}, due_at) where key = $1 and fence = $2`,
      [lane, fence, this.clock.given(), dueInMs ?? null],
    );
  }

  async postpone(lane: string, fence: bigint, reason: string, retryInMs: number, parkAfter: number): Promise<boolean> {
    this.transactions.forget(lane);
    const time = [this.clock.given(), retryInMs];
    return inTransaction(this.db.pool, async (db) => {
      const held = await db.query('select key from lane where key = $1 and fence = $2 for update', [lane, fence]);
      if (held.rowCount !== 1) return true; // somebody else's by now
      const blamed = await db.query(
        `update inbox_event set attempts = attempts + 1, next_try_at = ${laterSql(2, 3)}, reason = $4,
                status = case when attempts + 1 >= $5 then 'parked' else status end,
                decided_at = case when attempts + 1 >= $5 then ${timeSql(2)} else null end
          where id = (select min(id) from inbox_event where lane = $1 and status = 'received' and next_try_at <= ${timeSql(2)})`,
        [lane, ...time, reason.slice(0, 500), parkAfter],
      );
      await db.query(`update lane set due_at = ${laterSql(2, 3)}, lease_until = null where key = $1`, [lane, ...time]);
      return blamed.rowCount === 1;
    });
  }

  async paymentsElsewhere(paymentIds: readonly string[], lane: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.db.pool.query<{ payment_id: string; invoice_id: string }>(
      'select payment_id, invoice_id from payment where payment_id = any($1) and invoice_id <> $2',
      [paymentIds, lane],
    );
    return new Map(found.rows.map((r) => [r.payment_id, r.invoice_id]));
  }

  async paysByDebit(customerId: string): Promise<boolean> {
    const found = await this.db.pool.query<{ kind: string; body: string | null; slow: boolean }>(
      `select s.kind, s.body, exists (select from payment p
                where p.customer_id = $1 and p.signup_id = s.id and p.pending_since is not null
                  and coalesce(p.succeeded_at, ${timeSql(2)}) > p.pending_since + interval '1 hour') as slow
         from signup s where s.customer_id = $1 and s.intent_id is not null order by s.seq desc limit 1`,
      [customerId, this.clock.given()],
    );
    const newest = found.rows[0];
    if (newest === undefined) return false;
    return newest.kind === 'payment' ? newest.slow : savesOnlyDebits(newest.body);
  }
}

/** A setup intent's request, as we sent it (Document 3): without types it saves a card; null once erased. */
function savesOnlyDebits(body: string | null): boolean {
  const request: unknown = JSON.parse(body ?? '{}');
  const types =
    typeof request === 'object' && request !== null && 'payment_method_types' in request
      ? request.payment_method_types
      : [];
  return Array.isArray(types) && types.length > 0 && !types.includes('card');
}

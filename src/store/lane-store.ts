// Lanes in PostgreSQL: claims with a lease and a fence, and one short transaction per decision.
import { Injectable } from '@nestjs/common';
import { Clock } from '../domain/ports/clock.js';
import { type InboxSource } from '../domain/ports/inbox.js';
import { type Claim, LaneStore, type LaneWork } from '../domain/ports/lane-store.js';
import { Database, inTransaction, oneFlight, onConnection } from './database.js';
import { waits } from './lane-rows.js';
import { LaneTransactions } from './lane-transactions.js';

// Both halves of what is due stop early on a small partial index, however large the books are: by these plans and no others,
// whatever the server has been told of its tables so far.
const BEGIN_SQL = `begin; set local enable_seqscan = off; set local enable_bitmapscan = off; set local enable_sort = off;
                   set local enable_hashjoin = off; set local enable_mergejoin = off`;

/** Events of a lane that its log lines name. */
const NAMED = 3;

// Lanes with something due that nobody holds, and what waits there.
const CLAIM_SQL = `
  with due as (
    (select e.lane as key from inbox_event e
      where e.status = 'received' and e.next_try_at <= $1
        and not exists (select 1 from lane l where l.key = e.lane and l.lease_until > $1)
      order by e.next_try_at, e.id limit $2 * 2)
    union
    (select l.key from lane l
      where l.due_at <= $1 and (l.lease_until is null or l.lease_until <= $1)
      order by l.due_at limit $2)
  ), chosen as (select key from due order by key limit $2
  ), claimed as (
    insert into lane as l (key, fence, lease_owner, lease_until)
    select key, nextval('lane_fence'), $3, $4 from chosen
    on conflict (key) do update
      set fence = excluded.fence, lease_owner = excluded.lease_owner, lease_until = excluded.lease_until
      where l.lease_until is null or l.lease_until <= $1
    returning key, fence)
  select c.key, c.fence, t.types,
         (select json_agg(json_build_array(n.source, n.event_id))
            from (select e.source, e.event_id from inbox_event e
                   where e.lane = c.key and (cardinality(t.types) = 0 or ${waits(1)}) order by e.id desc limit ${NAMED}) n) as named
    from claimed c cross join lateral (
      select array(select distinct e.type from inbox_event e where e.lane = c.key and ${waits(1)}) as types) t`;

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
    private readonly clock: Clock,
  ) {
    super();
    this.transactions = new LaneTransactions(db.pool, clock);
  }

  async claim(owner: string, limit: number, leaseMs: number): Promise<readonly Claim[]> {
    const now = this.clock.now();
    const until = new Date(now.getTime() + leaseMs);
    const claimed = await onConnection(this.db.pool, async (db) => {
      const [, found] = await oneFlight(db, () => [
        db.query(BEGIN_SQL),
        db.query<Row>({ name: 'claim', text: CLAIM_SQL, values: [now, limit, owner, until] }),
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
    const until = new Date(this.clock.now().getTime() + leaseMs);
    const renewed = await this.db.pool.query(
      'update lane set lease_until = $3 where key = $1 and fence = $2 and lease_until is not null',
      [lane, fence, until],
    );
    return renewed.rowCount === 1;
  }

  transact<T>(work: LaneWork<T>): Promise<T> {
    return this.transactions.submit(work);
  }

  async release(lane: string, fence: bigint, dueAt?: Date): Promise<void> {
    this.transactions.forget(lane);
    await this.db.pool.query(
      `update lane set lease_until = null, lease_owner = null, due_at = coalesce($3, due_at) where key = $1 and fence = $2`,
      [lane, fence, dueAt ?? null],
    );
  }

  async postpone(lane: string, fence: bigint, reason: string, retryAt: Date, parkAfter: number): Promise<boolean> {
    this.transactions.forget(lane);
    const now = this.clock.now();
    return inTransaction(this.db.pool, async (db) => {
      const held = await db.query('select key from lane where key = $1 and fence = $2 for update', [lane, fence]);
      if (held.rowCount !== 1) return true; // somebody else's by now
      const blamed = await db.query(
        `update inbox_event set attempts = attempts + 1, next_try_at = $2, reason = $3,
                status = case when attempts + 1 >= $4 then 'parked' else status end,
                decided_at = case when attempts + 1 >= $4 then $5 else null end
          where id = (select min(id) from inbox_event where lane = $1 and status = 'received' and next_try_at <= $5)`,
        [lane, retryAt, reason.slice(0, 500), parkAfter, now],
      );
      await db.query('update lane set due_at = $2, lease_until = null where key = $1', [lane, retryAt]);
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
                  and coalesce(p.succeeded_at, $2) > p.pending_since + interval '1 hour') as slow
         from signup s where s.customer_id = $1 and s.intent_id is not null order by s.seq desc limit 1`,
      [customerId, this.clock.now()],
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

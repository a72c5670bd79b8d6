// The queue of lanes: a row for each lane with something due. Claims with a lease and a fence: what somebody waits for, then the oldest.
import type pg from 'pg';
import { type DatabaseTime, laterSql, timeSql } from '../store/database-time.js';

/** A crashed worker's lanes are taken over after this long; a living one renews its leases well before. */
export const LEASE_MS = 25_000;

// What is due and not held, the longest waiting first. It reads the queue in the order of its index and stops: what is held stands
// at its head, and that is no more than all workers hold. A row that somebody has locked waits for the next claim. Lanes that became
// due at one moment are taken in the order of their keys, so that the plan the server happens to choose decides nothing.
const NOW = timeSql(1);
const CLAIM_SQL = `
  with due as materialized (
    select key from lane where due_at <= ${NOW} and (lease_until is null or lease_until <= ${NOW})
     order by due_at, key limit (select $2::int) for update skip locked)
  update lane l set fence = nextval('lane_fence'), lease_owner = $3, lease_until = ${laterSql(1, 4)}
   where l.key = any (array(select key from due))
  returning l.key, l.fence, l.news, l.due_at`;

export type Taken = { readonly lane: string; readonly fence: bigint; readonly news: bigint };

/** `leaseMs`: so long nobody else takes them. */
export async function claimDue(
  pool: pg.Pool,
  time: DatabaseTime,
  limit: number,
  owner: string,
  leaseMs: number,
): Promise<readonly Taken[]> {
  const found = await pool.query<{ key: string; fence: string; news: string; due_at: Date }>({
    name: 'claim',
    text: CLAIM_SQL,
    values: [time.given(), limit, owner, leaseMs],
  });
  return found.rows
    .toSorted((a, b) => a.due_at.getTime() - b.due_at.getTime() || (a.key < b.key ? -1 : 1))
    .map((r) => ({ lane: r.key, fence: BigInt(r.fence), news: BigInt(r.news) }));
}

/** Holds lanes longer, all with one statement. Gives those that are still held with this fence. */
export async function renewLeases(
  pool: pg.Pool,
  time: DatabaseTime,
  held: readonly { readonly lane: string; readonly fence: bigint }[],
  leaseMs: number,
): Promise<ReadonlySet<string>> {
  const renewed = await pool.query<{ key: string }>({
    name: 'renew',
    text: `with held as materialized (
             select l.key from lane l where l.key = any($2::text[]) and l.lease_until is not null
                and l.fence = any($3::bigint[]) order by l.key for update)
           update lane l set lease_until = ${laterSql(1, 4)} where l.key = any (array(select key from held)) returning l.key`,
    values: [time.given(), held.map((h) => h.lane), held.map((h) => h.fence.toString()), leaseMs],
  });
  return new Set(renewed.rows.map((r) => r.key));
}

/** Gives a lane back as it is: still due, or due after `dueInMs`. */
export async function giveBack(
  pool: pg.Pool,
  time: DatabaseTime,
  lane: string,
  fence: bigint,
  dueInMs: number | null,
): Promise<void> {
  await pool.query(
    `update lane set lease_until = null, lease_owner = null, due_at = coalesce(${laterSql(3, 4)}, due_at)
      where key = $1 and fence = $2`,
    [lane, fence, time.given(), dueInMs],
  );
}

/**
 * Ends a claim in an open transaction whose lane row is locked: due when the next event is, or after `dueInMs`; out of the queue when
 * nothing is. `now`: as in `timeSql`.
 */
export async function restIn(db: pg.PoolClient, lane: string, now: Date | null, dueInMs: number | null): Promise<void> {
  const next = await db.query<{ at: Date | null }>(
    `select least(${laterSql(2, 3)}, min(next_try_at)) as at from inbox_event where lane = $1 and status = 'received'`,
    [lane, now, dueInMs],
  );
  const at = next.rows[0]?.at ?? null;
  if (at === null) await db.query('delete from lane where key = $1', [lane]);
  else {
    await db.query('update lane set lease_until = null, lease_owner = null, due_at = $2 where key = $1', [lane, at]);
  }
}

/** How lanes stand in the queue, whoever holds them. */
export async function takenBy(pool: pg.Pool, lanes: readonly string[]): Promise<Map<string, Taken>> {
  const found = await pool.query<{ key: string; fence: string; news: string }>(
    'select key, fence, news from lane where key = any($1)',
    [lanes],
  );
  return new Map(found.rows.map((r) => [r.key, { lane: r.key, fence: BigInt(r.fence), news: BigInt(r.news) }]));
}

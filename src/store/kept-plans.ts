// How long a plan may be kept.
import type pg from 'pg';

/** Milliseconds. Making some twenty plans anew costs a few milliseconds. */
const KEPT_MS = 5_000;
const madeAt = new WeakMap<pg.PoolClient, number>();

/**
 * Begins a transaction of prepared statements. The server keeps a plan as long as its connection, and one that was made while a table
 * was small reads all of it, however large it has become since and until somebody has counted its rows: no plan gets old.
 */
export function beginSql(db: pg.PoolClient): string {
  const now = performance.now();
  const made = madeAt.get(db);
  if (made !== undefined && now - made < KEPT_MS) return 'begin';
  madeAt.set(db, now);
  return made === undefined ? 'begin' : 'begin; discard plans';
}

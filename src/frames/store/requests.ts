// Remembers the object of a POST with an idempotency key, so a repeat creates nothing new.
import { createHash } from 'node:crypto';
import type pg from 'pg';
import { Injectable } from '@nestjs/common';
import { type Remembered, type RequestName } from '../../shared/domain/request-name.js';
import { DatabaseTime, timeSql } from './database-time.js';
import { Database } from './database.js';

/** A request's new object. `at`: the time of the request; null: now. */
type Made = { readonly bodySha256: Buffer; readonly objectId: string; readonly at: Date | null };

/**
 * Stores the request with its object, or returns the object of the first request with the same API key, route and
 * Idempotency-Key. If another transaction is inserting the same request, waits for the end of that transaction.
 */
export async function rememberIn(
  db: pg.Pool | pg.PoolClient,
  name: RequestName,
  { bodySha256, objectId, at }: Made,
): Promise<Remembered> {
  const made = await db.query(
    `insert into api_request (api_key, method, path, idempotency_key, body_sha256, object_id, created_at)
     select $1, $2, $3, $4, $5, $6, ${timeSql(7)} where not exists (
       select from api_request where api_key = $1 and method = $2 and path = $3 and idempotency_key = $8)
     on conflict do nothing`,
    [name.apiKey, name.method, name.path, name.idempotencyKey, bodySha256, objectId, at, hashOf(name.idempotencyKey)],
  );
  return made.rowCount === 1 ? { known: false } : recallIn(db, name, bodySha256);
}

/** Finds the object of an earlier request with the same API key, route and Idempotency-Key. */
export async function recallIn(
  db: pg.Pool | pg.PoolClient,
  name: RequestName,
  bodySha256: Buffer,
): Promise<Remembered> {
  const found = await db.query<{ body_sha256: Buffer; object_id: string }>(
    'select body_sha256, object_id from api_request where api_key = $1 and method = $2 and path = $3 and idempotency_key = any($4)',
    [name.apiKey, name.method, name.path, [name.idempotencyKey, hashOf(name.idempotencyKey)]],
  );
  const row = found.rows[0];
  if (row === undefined) return { known: false };
  return { known: true, sameBody: row.body_sha256.equals(bodySha256), objectId: row.object_id };
}

/** What an erasure leaves of a key: a repeat of the request is still recognised. */
const hashOf = (key: string): string => `sha256-${createHash('sha256').update(key).digest('hex')}`;

/**
 * For an erasure: replaces the keys of the requests that made the objects `$1` by their hashes. Callers may have built a
 * key from an e-mail address. A plain id stays.
 */
export const FORGET_KEYS = `
  update api_request set idempotency_key = 'sha256-' || encode(sha256(convert_to(idempotency_key, 'UTF8')), 'hex')
   where object_id = any($1) and idempotency_key !~ '^[A-Za-z0-9_.:/+-]+$'`;

@Injectable()
export class Requests {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  recall(name: RequestName, bodySha256: Buffer): Promise<Remembered> {
    return recallIn(this.db.pool, name, bodySha256);
  }

  /** Stores the object of a request. If a concurrent request was first, returns the first request's object. */
  /** The Idempotency-Key of the request that made this object. Null: another caller made it. */
  async keyOf({ apiKey, method, path }: Omit<RequestName, 'idempotencyKey'>, objectId: string): Promise<string | null> {
    const found = await this.db.pool.query<{ idempotency_key: string }>(
      'select idempotency_key from api_request where api_key = $1 and method = $2 and path = $3 and object_id = $4',
      [apiKey, method, path, objectId],
    );
    return found.rows[0]?.idempotency_key ?? null;
  }

  remember(name: RequestName, bodySha256: Buffer, objectId: string): Promise<Remembered> {
    return rememberIn(this.db.pool, name, { bodySha256, objectId, at: this.time.given() });
  }
}

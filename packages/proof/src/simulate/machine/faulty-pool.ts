// A pool of PostgreSQL connections with faults: it refuses a statement, rolls it back, reports a serialization failure,
// or commits and loses the answer.
import type pg from 'pg';
import { type Database, sqlState } from '#src/frames/store/database.js';
import { type FaultKind } from './faults.js';

/** The fault for the current step. It hits one statement or commit, then `next` is null again. */
export type Trouble = { next: FaultKind | null };

class DatabaseError extends Error {
  constructor(
    readonly code: string,
    message: string,
  ) {
    super(message);
  }
}

const gone = (): DatabaseError => new DatabaseError('08006', 'the connection was lost');

type Query = (...args: unknown[]) => Promise<unknown>;

/** Wraps the pools of a database, so the simulator can let a statement or commit fail. */
export function faultyDatabase(db: Database, trouble: Trouble): Database {
  return Object.assign(Object.create(db) as Database, {
    pool: faultyPool(db.pool, trouble),
    intake: faultyPool(db.intake, trouble),
  });
}

/**
 * Makes `pool.query` keep its connection if the server refuses a row. pg drops the connection after any error. In the
 * simulation the server often refuses the row of a late worker, and a new connection each time would be a third of the
 * cost of a run.
 */
export function keepConnections(pool: pg.Pool): void {
  const query: Query = async (...args) => {
    const db = await pool.connect();
    const ask: Query = db.query.bind(db);
    let broken: Error | undefined;
    try {
      return await ask(...args);
    } catch (e) {
      const isRefusedRow = sqlState(e)?.startsWith('23') === true; // SQLSTATE class 23: a constraint
      if (!isRefusedRow) broken = e instanceof Error ? e : new Error('query failed');
      throw e;
    } finally {
      db.release(broken);
    }
  };
  pool.query = query as pg.Pool['query'];
}

function faultyPool(pool: pg.Pool, trouble: Trouble): pg.Pool {
  const query: Query = async (...args) => {
    const fault = take(trouble);
    if (fault !== null && fault !== 'db_answer_lost') throw fault === 'db_serialization' ? conflict() : gone();
    const result = await (pool.query as unknown as Query).apply(pool, args);
    if (fault === 'db_answer_lost') throw gone();
    return result;
  };
  const connect = async (): Promise<pg.PoolClient> => {
    if (trouble.next === 'db_refused') {
      trouble.next = null;
      throw gone();
    }
    return faultyClient(await pool.connect(), trouble);
  };
  return Object.assign(Object.create(pool) as pg.Pool, { query, connect });
}

type Corked = { readonly connection?: { readonly stream?: { cork(): void; uncork(): void } } };

/** Sends all queries of one event-loop turn in one packet. Separate packets would be most of the cost of a run. */
function together(client: pg.PoolClient): Query {
  const run: Query = client.query.bind(client);
  const { stream } = (client as unknown as Corked).connection ?? {};
  if (stream === undefined) return run;
  return (...args) => {
    stream.cork();
    process.nextTick(() => stream.uncork());
    return run(...args);
  };
}

function faultyClient(client: pg.PoolClient, trouble: Trouble): pg.PoolClient {
  const run = together(client);
  const query: Query = async (...args) => {
    if (args[0] !== 'commit') return run(...args);
    const fault = take(trouble);
    if (fault === null) return run(...args);
    await run(fault === 'db_answer_lost' ? 'commit' : 'rollback');
    throw fault === 'db_serialization' ? conflict() : gone();
  };
  return Object.assign(Object.create(client) as pg.PoolClient, {
    query,
    release: (error?: Error | boolean) => client.release(error),
    on: (...args: Parameters<pg.PoolClient['on']>) => client.on(...args),
    off: (...args: Parameters<pg.PoolClient['off']>) => client.off(...args),
  });
}

function take(trouble: Trouble): FaultKind | null {
  const { next } = trouble;
  trouble.next = null;
  return next;
}

function conflict(): DatabaseError {
  return new DatabaseError('40001', 'could not serialize access');
}

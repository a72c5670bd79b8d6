// The way into PostgreSQL: TypeORM's DataSource for entities and reads, its pool for the hot paths, and a pool of its own for intake.
import { Writable } from 'node:stream';
import { types } from 'node:util';
import pg from 'pg';
import { DataSource } from 'typeorm';
import { ENTITIES } from './entities.js';

export type DatabaseOptions = {
  readonly url: string;
  /** Connections in all; one of them serves intake alone, so that a busy daemon still takes webhooks. */
  readonly poolSize: number;
  readonly onError: (error: Error) => void;
};

// Milliseconds. A transaction here is short; what takes longer is stuck, and its work is done again by whoever comes next.
const CONNECT_MS = 5_000;
const STATEMENT_MS = 15_000;
const INTAKE_STATEMENT_MS = 5_000;

export class Database {
  private constructor(
    /** Entities and reads. */
    readonly orm: DataSource,
    /** The DataSource's own pool: lanes, outbox, ledger. */
    readonly pool: pg.Pool,
    /** Intake's own connections. */
    readonly intake: pg.Pool,
  ) {}

  static async open(options: DatabaseOptions): Promise<Database> {
    const orm = new DataSource({
      type: 'postgres',
      url: options.url,
      applicationName: 'crossbill',
      entities: ENTITIES,
      synchronize: false,
      poolSize: Math.max(1, options.poolSize - 1),
      connectTimeoutMS: CONNECT_MS,
      poolErrorHandler: (e: unknown) => options.onError(e instanceof Error ? e : new Error('database error')),
      extra: {
        statement_timeout: STATEMENT_MS,
        query_timeout: STATEMENT_MS + 2_000,
        idle_in_transaction_session_timeout: STATEMENT_MS,
        keepAlive: true,
        // Statements that do not wait for each other travel together: a decision needs two round trips, not twenty.
        pipeline: true,
      },
    });
    await orm.initialize();
    const pool: unknown = (orm.driver as unknown as { master: unknown }).master;
    if (!(pool instanceof pg.Pool)) throw new Error('TypeORM did not give its pg pool');
    const intake = new pg.Pool({
      connectionString: options.url,
      application_name: 'crossbill-intake',
      max: 1,
      connectionTimeoutMillis: CONNECT_MS,
      statement_timeout: INTAKE_STATEMENT_MS,
      query_timeout: INTAKE_STATEMENT_MS + 1_000,
      keepAlive: true,
    });
    // An idle client without a listener would take the process down with its connection.
    intake.on('error', options.onError);
    return new Database(orm, pool, intake);
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.intake.end(), this.orm.destroy()]);
  }
}

/**
 * Statements that do not wait for each other leave as one packet: `send` hands them to the connection, all at once. Resolves when
 * all are answered; rejects with the first that failed.
 */
export function oneFlight<T extends readonly unknown[] | []>(
  db: pg.PoolClient,
  send: () => T,
): Promise<{ -readonly [K in keyof T]: Awaited<T[K]> }> {
  // pg writes each statement by itself, a system call each; its socket can hold them back for a moment.
  const { connection } = db as { connection?: { stream?: unknown } };
  const socket = connection?.stream instanceof Writable ? connection.stream : null;
  socket?.cork();
  try {
    return Promise.all(send());
  } finally {
    socket?.uncork();
  }
}

const READ_ONLY = '25006';

/** Runs `work` in one transaction. */
export function inTransaction<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  return onConnection(pool, async (db) => {
    await db.query('begin');
    const result = await work(db);
    await db.query('commit');
    return result;
  });
}

/**
 * Lends `work` a connection on which it begins and commits by itself; what it leaves open when it throws is rolled back.
 * A connection whose state is unknown, or that leads to a server that takes no writes, is thrown away, never put back.
 */
export async function onConnection<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  let broken: Error | undefined;
  const fail = (e: Error): void => {
    broken = e;
  };
  db.on('error', fail);
  try {
    return await work(db);
  } catch (e) {
    try {
      await db.query('rollback');
      // The server behind it became a standby: a new connection leads to whichever takes writes now.
      if (sqlState(e) === READ_ONLY) broken = e as Error;
    } catch (again) {
      broken = again instanceof Error ? again : new Error('rollback failed');
    }
    throw e;
  } finally {
    db.off('error', fail);
    db.release(broken);
  }
}

/** SQLSTATE of a database error, or the socket's own code; null for anything else. */
export function sqlState(e: unknown): string | null {
  // Not `instanceof`: a socket's error may come from another realm than this code.
  return types.isNativeError(e) && 'code' in e && typeof e.code === 'string' ? e.code : null;
}

/** Serialization failure or deadlock: the whole transaction may be run again. */
export function isTransient(e: unknown): boolean {
  const state = sqlState(e);
  return state === '40001' || state === '40P01';
}

// Connection, resources, operator intervention, read-only after a failover: the database's own trouble (SQLSTATE classes).
const TROUBLE = /^(08|53|57|58|25|40|55|XX)/;

/** True when the error is the database's own trouble and not what it was told to do. */
export function isUnavailable(e: unknown): boolean {
  const state = sqlState(e);
  if (state === null) return e instanceof Error && /timeout|terminat|connection|pool/i.test(e.message);
  return TROUBLE.test(state) || /^E[A-Z]{3,}$/.test(state); // ECONNREFUSED and its kin come from the socket
}

export function violatedConstraint(e: unknown): string | null {
  if (sqlState(e) !== '23505' || !(e instanceof Error)) return null;
  return 'constraint' in e && typeof e.constraint === 'string' ? e.constraint : 'unknown';
}

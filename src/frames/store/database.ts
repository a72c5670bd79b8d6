// The connections to PostgreSQL: TypeORM's DataSource for entities and reads, its pool for the hot paths, and a
// separate pool for intake.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { DataSource, getMetadataArgsStorage } from 'typeorm';
import { poolConfig, poolOf, renewPlans } from './connect.js';
import { sqlState } from './database-errors.js';
import { SnakeNames } from './columns.js';
import { refusalOf } from './refusals.js';
import { checkServer, type ServerFacts } from './server.js';

export { DatabaseRefused, isTransient, isUnavailable, sqlState, violatedConstraint } from './database-errors.js';

export type DatabaseOptions = {
  readonly url: string;
  /** The number of all connections. One connection serves intake alone, so even a busy daemon accepts webhooks. */
  readonly poolSize: number;
  /** True in a daemon: probes, requests and work get connections of their own. */
  readonly serves?: boolean;
  readonly onError: (error: Error) => void;
};

const NAME = 'crossbill';

// The longest time of a statement, in milliseconds. Then the server ends the statement, and the next worker repeats the
// work.
const STATEMENT_MS = 15_000;
const INTAKE_STATEMENT_MS = 5_000;

export class Database {
  private constructor(
    /** TypeORM, for entities and reads. */
    readonly orm: DataSource,
    /** The DataSource's pool: for lanes, calls and the ledger. */
    readonly pool: pg.Pool,
    /** The connections for intake alone. */
    readonly intake: pg.Pool,
    readonly server: ServerFacts,
  ) {}

  /**
   * Opens the connections.
   * @throws DatabaseRefused if the database is unusable, and waiting does not help
   */
  static async open(options: DatabaseOptions): Promise<Database> {
    const orm = dataSource(options);
    const intake = new pg.Pool({
      ...poolConfig(options.url, { name: 'crossbill-intake', statementMs: INTAKE_STATEMENT_MS }),
      max: 1,
      query_timeout: INTAKE_STATEMENT_MS + 1_000,
    });
    // Without this listener a lost idle connection would end the process.
    intake.on('error', options.onError);
    try {
      await orm.initialize();
      const pool = poolOf(orm);
      for (const one of [pool, intake]) renewPlans(one);
      const server = await checkServer(pool, intake);
      return new Database(orm, pool, intake, server);
    } catch (e) {
      await Promise.allSettled([intake.end(), orm.destroy()]);
      throw refusalOf(e);
    }
  }

  async close(): Promise<void> {
    await Promise.allSettled([this.intake.end(), this.orm.destroy()]);
  }
}

function dataSource({ url, poolSize, serves = false, onError }: DatabaseOptions): DataSource {
  return new DataSource({
    type: 'postgres',
    // Every loaded entity class. Each store imports its own entities.
    entities: getMetadataArgsStorage().tables.map(({ target }) => target),
    namingStrategy: new SnakeNames(),
    synchronize: false,
    applicationName: NAME,
    driver: serves ? { ...pg, Pool: SharedPool } : pg,
    poolSize: Math.max(1, poolSize - 1),
    poolErrorHandler: (e: unknown) => onError(e instanceof Error ? e : new Error('database error')),
    extra: {
      ...poolConfig(url, { name: NAME, statementMs: STATEMENT_MS }),
      query_timeout: STATEMENT_MS + 2_000,
      // Independent statements go out together, so a decision needs two round trips instead of twenty.
      pipeline: true,
    },
  });
}

/** A probe (`/readyz`), a request that only reads, any other request. Everybody else works: lanes, timers, commands. */
export type Caller = 'probe' | 'read' | 'change' | 'work';

/** The number of connections of each. 0: these callers share the connections of the work. */
export type Shares = Readonly<Record<Caller, number>>;

/** Who asks. Each query inside `caller.run` takes a connection of this caller. */
export const caller = new AsyncLocalStorage<Caller>();

/**
 * Splits `size` connections. Work and changes need two each: one may hold a lock. With fewer than six, changes share
 * the connections of the work; with fewer than four, everybody does.
 */
export function sharesOf(size: number): Shares {
  if (size < 4) return { probe: 0, read: 0, change: 0, work: size };
  const change = size < 6 ? 0 : Math.max(2, Math.floor(size / 5));
  const read = Math.floor((size - 1 - change) / 2);
  return { probe: 1, read, change, work: size - 1 - change - read };
}

// After a failover the connection may still reach the old server, read-only now. So the next probe opens another one.
const CHECK_SQL: pg.PoolConfig = { query_timeout: 2_000, maxLifetimeSeconds: 10 };

type Done = Parameters<pg.Pool['connect']>[0];

/**
 * The pool of a daemon. Each kind of caller has connections of its own, so readers waiting for a slow table hold up no
 * change, no probe and no work. The pool itself has the connections of the work.
 */
class SharedPool extends pg.Pool {
  private readonly parts: ReadonlyMap<Caller, pg.Pool>;

  constructor(options: pg.PoolConfig) {
    const shares = sharesOf(options.max ?? 1);
    super({ ...options, max: shares.work });
    const own = (['probe', 'read', 'change'] as const).filter((who) => shares[who] > 0);
    this.parts = new Map(
      own.map((who) => {
        const pool = new pg.Pool({ ...options, ...(who === 'probe' ? CHECK_SQL : {}), max: shares[who] });
        pool.on('error', (e, client) => this.emit('error', e, client));
        renewPlans(pool);
        return [who, pool];
      }),
    );
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<pg.PoolClient> | void {
    const part = this.parts.get(caller.getStore() ?? 'work');
    if (done === undefined) return part === undefined ? super.connect() : part.connect();
    return part === undefined ? super.connect(done) : part.connect(done);
  }

  override end(): Promise<void>;
  override end(done: () => void): void;
  override end(done?: () => void): Promise<void> {
    return Promise.all([super.end(), ...[...this.parts.values()].map((pool) => pool.end())]).then(() => done?.());
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
 * Runs `work` on a connection. `work` begins and commits its own transaction. After an error an open transaction is
 * rolled back. A connection in an unknown state, or to a read-only server, is closed and never reused.
 */
export async function onConnection<T>(pool: pg.Pool, work: (db: pg.PoolClient) => Promise<T>): Promise<T> {
  const db = await pool.connect();
  let broken: Error | undefined;
  const fail = (error: Error): void => {
    broken = error;
  };
  db.on('error', fail);
  try {
    return await work(db);
  } catch (e) {
    try {
      await db.query('rollback');
      // The server became a standby. A new connection reaches the server with write access.
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

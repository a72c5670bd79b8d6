// The pool behind all queries outside intake. Each kind of caller has connections of its own, so readers waiting for a
// slow table hold up no change, no probe and no work.
import { AsyncLocalStorage } from 'node:async_hooks';
import pg from 'pg';
import { renewPlans } from './connect.js';

/** A probe (`/readyz`), a request that only reads, any other request. Everybody else works: lanes, timers, commands. */
export type Caller = 'probe' | 'read' | 'change' | 'work';

/** The number of connections of each. 0: these callers share the connections of the work. */
export type Shares = Readonly<Record<Caller, number>>;

const current = new AsyncLocalStorage<Caller>();

/** Runs `handle`: all its queries take a connection of this caller. */
export function callingAs<T>(caller: Caller, handle: () => T): T {
  return current.run(caller, handle);
}

/**
 * Splits `size` connections. Work and changes need two each: one may hold a lock. With fewer than seven, changes share
 * the connections of the work; with fewer than four, everybody does. `serves`: HTTP requests come too.
 */
export function sharesOf(size: number, serves: boolean): Shares {
  if (!serves || size < 4) return { probe: 0, read: 0, change: 0, work: Math.max(1, size) };
  const change = size < 6 ? 0 : Math.max(2, Math.floor(size / 5));
  const read = Math.floor((size - 1 - change) / 2);
  return { probe: 1, read, change, work: size - 1 - change - read };
}

// After a failover the connection may still reach the old server, read-only now. So the next probe opens another one.
const PROBE: pg.PoolConfig = { query_timeout: 2_000, maxLifetimeSeconds: 10 };

type Done = Parameters<pg.Pool['connect']>[0];

/** TypeORM makes this pool in place of its own, so no query names its caller. */
export class SharedPool extends pg.Pool {
  /** For steps and budgets of many callers: a group may begin in the request of one of them. */
  readonly work: pg.Pool;
  private readonly parts: Readonly<Record<Caller, pg.Pool>>;

  constructor(options: pg.PoolConfig & { readonly shares: Shares }) {
    super(options);
    const { shares } = options;
    const part = (caller: Caller): pg.Pool => {
      const pool = new pg.Pool({ ...options, ...(caller === 'probe' ? PROBE : {}), max: shares[caller] });
      pool.on('error', (e, client) => this.emit('error', e, client));
      renewPlans(pool);
      return pool;
    };
    const work = (this.work = part('work'));
    const own = (caller: Caller): pg.Pool => (shares[caller] === 0 ? work : part(caller));
    this.parts = { probe: own('probe'), read: own('read'), change: own('change'), work };
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(done: Done): void;
  override connect(done?: Done): Promise<pg.PoolClient> | void {
    const pool = this.parts[current.getStore() ?? 'work'];
    return done === undefined ? pool.connect() : pool.connect(done);
  }

  override end(): Promise<void>;
  override end(done: () => void): void;
  override end(done?: () => void): Promise<void> {
    return Promise.all([...new Set(Object.values(this.parts))].map((pool) => pool.end())).then(() => done?.());
  }
}

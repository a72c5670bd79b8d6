// The daemon's real request budget on the simulated database. Each transaction of the budget is one simulated step.
import type pg from 'pg';
import { type Database } from '#src/frames/store/database.js';
import { databaseFaults, type FaultKind } from './faults.js';
import { faultyDatabase, type Trouble } from './faulty-pool.js';
import { type Owner, type Scheduler } from './scheduler.js';

const LABEL = 'budget';

/** Wraps a database: each statement, and each use of a connection, is one step and waits for its turn. */
export function steppedDatabase(db: Database, scheduler: Scheduler, owner: Owner): Database {
  const trouble: Trouble = { next: null };
  const { pool } = faultyDatabase(db, trouble);
  const step = <T>(run: () => Promise<T>): Promise<T> =>
    scheduler.step(owner, LABEL, databaseFaults, async (fault: FaultKind | null) => {
      trouble.next = fault;
      try {
        return await run();
      } finally {
        trouble.next = null;
      }
    });
  const connect = (): Promise<pg.PoolClient> =>
    new Promise((lend, refuse) => {
      const held = async (): Promise<void> => {
        const client = await pool.connect();
        await new Promise<void>((done) => {
          const release = (error?: Error | boolean): void => {
            client.release(error);
            done();
          };
          lend(Object.assign(Object.create(client) as pg.PoolClient, { release }));
        });
      };
      step(held).catch(refuse);
    });
  const query = (...args: unknown[]): Promise<unknown> =>
    step(async () => {
      await (pool.query as unknown as (...one: unknown[]) => Promise<unknown>).apply(pool, args);
    });
  return Object.assign(Object.create(db) as Database, {
    pool: Object.assign(Object.create(pool) as pg.Pool, { connect, query }),
  });
}

/**
 * B1: all replicas together send Stripe no more requests than the budget allows. `sentAt`: milliseconds since 1970, in
 * order.
 */
export function paceRules(sentAt: readonly number[], perSecond: number): string[] {
  for (const [n, at] of sentAt.entries()) {
    let within = n;
    while (sentAt[within + 1] !== undefined && (sentAt[within + 1] ?? 0) < at + 1_000) within++;
    const asked = within - n + 1;
    // Two requests may come exactly one second apart, so the rule allows one more than the pace.
    if (asked > perSecond + 1) return [`B1: Stripe got ${asked} requests in a second, and ${perSecond} are allowed`];
  }
  return [];
}

// Checks the server: its version, its encoding, and whether a connection keeps its session.
import type pg from 'pg';
import { DatabaseRefused } from './database-errors.js';

/** The oldest supported version, as servers count: 140011 means 14.11. */
const OLDEST = 140_000;
/** The first version nobody has tested this release with. */
const UNTESTED = 190_000;

export type ServerFacts = {
  readonly version: number;
  readonly encoding: string;
  readonly database: string;
};

export function shownVersion(version: number): string {
  return `PostgreSQL ${Math.floor(version / 10_000)}.${version % 10_000}`;
}

export function isUntested(version: number): boolean {
  return version >= UNTESTED;
}

/**
 * Refuses a server or pooler that looks healthy but would lose work. Takes a connection of each pool for a moment, or
 * two connections if both pools are the same.
 * @throws DatabaseRefused
 */
export async function checkServer(pool: pg.Pool, other: pg.Pool): Promise<ServerFacts> {
  const [a, b] = await Promise.all([pool.connect(), other.connect()]);
  try {
    const found = await a.query<ServerFacts & { pid: number }>(
      `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding,
              current_database() as database, pg_backend_pid() as pid`,
    );
    const [facts] = found.rows;
    if (facts === undefined) throw new Error('the server says nothing about itself');
    // The server tells a new connection the id of its server process. A pooler in between invents this id, so the two
    // ids differ.
    const direct = 'processID' in a && a.processID === facts.pid;
    if (!direct && (await sharesSessions(a, b))) {
      throw new DatabaseRefused(
        'pooling_mode',
        'The pooler before the database gives each transaction another session (transaction or statement mode): locks and session settings would be lost',
        'Connect to PostgreSQL directly, or through a pool in session mode (PgBouncer: pool_mode = session)',
      );
    }
    refuseUnfit(facts);
    return { version: facts.version, encoding: facts.encoding, database: facts.database };
  } finally {
    a.release();
    b.release();
  }
}

/**
 * Refuses a server with an unsuitable version or encoding.
 * @throws DatabaseRefused
 */
export function refuseUnfit({ version, encoding, database }: ServerFacts): void {
  if (version < OLDEST) {
    throw new DatabaseRefused(
      'server_version',
      `The server is ${shownVersion(version)}, and Crossbill needs 14 or later`,
      'Upgrade it, or name another server in DATABASE_URL',
    );
  }
  if (encoding !== 'UTF8') {
    throw new DatabaseRefused(
      'encoding',
      `The database ${database} has the encoding ${encoding}, and Crossbill needs UTF8`,
      `Create a database with UTF8 and name it in DATABASE_URL: create database crossbill encoding 'UTF8' locale 'C' template template0`,
    );
  }
}

/** The number of rounds. With fewer rounds other users of the pooler could hide a change of sessions by chance. */
const ROUNDS = 5;

/**
 * True if a pooler gives one server session to both connections, or gives one connection another session. The test:
 * connection b opens a transaction, perhaps in the session that connection a used last. Connection a then needs another
 * session.
 */
async function sharesSessions(one: pg.PoolClient, other: pg.PoolClient): Promise<boolean> {
  const own = new Map<pg.PoolClient, number>();
  const moved = async (db: pg.PoolClient): Promise<boolean> => {
    const found = await db.query<{ pid: number }>('select pg_backend_pid() as pid');
    const pid = found.rows[0]?.pid ?? 0;
    const before = own.get(db) ?? pid;
    own.set(db, pid);
    return before !== pid || own.get(db === one ? other : one) === pid;
  };
  try {
    for (let round = 0; round < ROUNDS; round++) {
      if ((await moved(one)) || (await moved(other))) return true;
      await other.query('begin');
      if (await moved(other)) return true;
      if (await moved(one)) return true;
      await other.query('commit');
    }
    return false;
  } catch (e) {
    // A pooler in statement mode refuses every transaction with this message.
    if (e instanceof Error && e.message.includes('statement pooling')) return true;
    throw e;
  } finally {
    await other.query('rollback').catch(() => undefined);
  }
}

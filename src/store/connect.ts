// The one way to a connection: every client and pool for PostgreSQL comes from here, with the settings we count on.
import pg from 'pg';
import { type DataSource } from 'typeorm';
import { addressOf } from './address.js';
import { refusalOf } from './refusals.js';

const CONNECT_MS = 5_000;

export type ConnectionOptions = {
  /** Shown in pg_stat_activity. */
  readonly name: string;
  /** Milliseconds a statement may take; 0: as long as it needs. */
  readonly statementMs: number;
};

/**
 * A new connection's settings before its first use, whatever a server, database or role has set. No start-up parameter:
 * poolers take none they do not know (PgBouncer: ignore_startup_parameters). Not here on purpose: search_path, since it
 * chooses the schema; default_transaction_read_only, since a full or fenced server sets it.
 */
function sessionSettings(statementMs: number): Readonly<Record<string, string>> {
  return {
    // The writing and reading of values.
    client_encoding: 'UTF8',
    datestyle: 'ISO, MDY',
    intervalstyle: 'postgres',
    timezone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '1',
    standard_conforming_strings: 'on',
    // A transaction's view; retries of serializable ones would only be noise.
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    // Compiling costs more than our statements do.
    jit: 'off',
    // A stuck one ends; one waiting for its next use does not. transaction_timeout exists since PostgreSQL 17.
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(statementMs),
    lock_timeout: '0',
    idle_session_timeout: '0',
    transaction_timeout: '0',
  };
}

/** One round trip. Skips a setting the server does not know. */
async function prepareSession(client: pg.ClientBase, statementMs: number): Promise<void> {
  const settings = Object.entries(sessionSettings(statementMs)).map(([name, value]) => `('${name}', '${value}')`);
  // A 200 at the webhook endpoints means the event is stored: a server or role with `off` would forget it. Whether a
  // standby has it too is the operator's choice.
  settings.push(`('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'))`);
  const text = `select set_config(s.name, w.value, false) from (values ${settings.join(', ')}) as w (name, value)
    join pg_settings s on lower(s.name) = w.name`;
  const query = { text, query_timeout: CONNECT_MS }; // a server silent after the login
  await client.query(query);
}

/**
 * For `new pg.Pool`, and for TypeORM's `extra`.
 * @throws DatabaseRefused for an unusable URL
 */
export function poolConfig(url: string, { name, statementMs }: ConnectionOptions): pg.PoolConfig {
  return {
    ...addressOf(url),
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
    // eslint-disable-next-line @typescript-eslint/no-misused-promises -- pg-pool waits for it, which its types do not say
    onConnect: (client: pg.ClientBase) => prepareSession(client, statementMs),
  };
}

/**
 * One connection; its caller ends it.
 * @throws DatabaseRefused if waiting does not help
 */
export async function connectAlone(url: string, { name, statementMs }: ConnectionOptions): Promise<pg.Client> {
  const client = new pg.Client({
    ...addressOf(url),
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    keepAlive: true,
  });
  client.on('error', () => undefined); // a lost connection also rejects its open queries
  try {
    await client.connect();
    await prepareSession(client, statementMs);
    return client;
  } catch (e) {
    await client.end().catch(() => undefined);
    throw refusalOf(e);
  }
}

/**
 * Milliseconds. New plans for a worker's queries take 3 to 10 ms of a connection, at any age: the first flood may come
 * after days of quiet.
 */
const PLANS_KEPT_MS = 5_000;

/**
 * Lets no plan get old. The server keeps a prepared statement's plan as long as its connection, and a plan for a once
 * small table reads all of it, at any later size, until somebody has counted its rows. The command goes ahead of the
 * connection's next use; nobody waits for its answer. In a pooler's session mode it reaches the session with the plans.
 */
export function renewPlans(pool: pg.Pool): void {
  const madeAt = new WeakMap<pg.PoolClient, number>();
  pool.on('acquire', (client) => {
    const now = performance.now();
    const made = madeAt.get(client);
    if (made !== undefined && now - made < PLANS_KEPT_MS) return;
    madeAt.set(client, now);
    // A lost connection reports to its borrower.
    if (made !== undefined) void client.query('discard plans').catch(() => undefined);
  });
}

/** TypeORM's own pool. */
export function poolOf(orm: DataSource): pg.Pool {
  const pool: unknown = (orm.driver as unknown as { master: unknown }).master;
  if (!(pool instanceof pg.Pool)) throw new Error('TypeORM did not give its pg pool');
  return pool;
}

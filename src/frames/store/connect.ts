// Makes every client and pool for PostgreSQL, always with the session settings Crossbill needs.
import pg from 'pg';
import { type DataSource } from 'typeorm';
import { addressOf } from './address.js';
import { refusalOf } from './refusals.js';

const CONNECT_MS = 5_000;

export type ConnectionOptions = {
  /** The connection's name in pg_stat_activity. */
  readonly name: string;
  /** The longest time of a statement, in milliseconds. 0: no limit. */
  readonly statementMs: number;
};

/**
 * The settings of a new connection. They override the settings of the server, the database and the role. Crossbill sets
 * them after the login, because poolers refuse unknown start-up parameters (PgBouncer: ignore_startup_parameters). Two
 * settings stay with the operator: search_path (the schema) and default_transaction_read_only (protects a full server).
 */
function sessionSettings(statementMs: number): Readonly<Record<string, string>> {
  return {
    // These settings fix the text format of values, so Crossbill and pg can parse them.
    client_encoding: 'UTF8',
    datestyle: 'ISO, MDY',
    intervalstyle: 'postgres',
    timezone: 'UTC',
    bytea_output: 'hex',
    extra_float_digits: '1',
    standard_conforming_strings: 'on',
    // The isolation of a transaction. Crossbill needs no serializable transactions, and would only have to retry them.
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    // No just-in-time compilation: compiling a statement takes longer than running it.
    jit: 'off',
    // The server ends a statement or a transaction that hangs. An idle connection stays open. transaction_timeout
    // exists since PostgreSQL 17.
    statement_timeout: String(statementMs),
    idle_in_transaction_session_timeout: String(statementMs),
    lock_timeout: '0',
    idle_session_timeout: '0',
    transaction_timeout: '0',
  };
}

/** Sets all settings in one round trip. Skips a setting the server does not know. */
async function prepareSession(client: pg.ClientBase, statementMs: number): Promise<void> {
  const settings = Object.entries(sessionSettings(statementMs)).map(([name, value]) => `('${name}', '${value}')`);
  // A 200 at a webhook endpoint promises a stored event. With `synchronous_commit = off` a crash of the server could
  // lose the event. The operator decides if a standby must have the event too.
  settings.push(`('synchronous_commit', replace(current_setting('synchronous_commit'), 'off', 'on'))`);
  const text = `select set_config(s.name, w.value, false) from (values ${settings.join(', ')}) as w (name, value)
    join pg_settings s on lower(s.name) = w.name`;
  const query = { text, query_timeout: CONNECT_MS }; // for a server that falls silent after the login
  await client.query(query);
}

/**
 * The options for `new pg.Pool`, and for TypeORM's `extra`.
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
 * Opens one connection. The caller ends it.
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
 * Crossbill discards a connection's query plans at this age, in milliseconds. New plans for all queries of a worker
 * cost a connection 3 to 10 ms. The age is short, so the plans are fresh even if a flood follows quiet days.
 */
const PLANS_KEPT_MS = 5_000;

/**
 * Discards old query plans. PostgreSQL keeps the plan of a prepared statement as long as the connection. A plan made
 * for a small table still reads the whole table after the table has grown. The pool sends `discard plans` when somebody
 * takes the connection, and waits for no reply. A pooler in session mode passes the command to the session with these
 * plans.
 */
export function renewPlans(pool: pg.Pool): void {
  const madeAt = new WeakMap<pg.PoolClient, number>();
  pool.on('acquire', (client) => {
    const now = performance.now();
    const made = madeAt.get(client);
    if (made !== undefined && now - made < PLANS_KEPT_MS) return;
    madeAt.set(client, now);
    // Ignore a lost connection here: the next user of the connection notices the loss.
    if (made !== undefined) void client.query('discard plans').catch(() => undefined);
  });
}

/** The pool inside TypeORM. */
export function poolOf(orm: DataSource): pg.Pool {
  const pool: unknown = (orm.driver as unknown as { master: unknown }).master;
  if (!(pool instanceof pg.Pool)) throw new Error('TypeORM did not give its pg pool');
  return pool;
}

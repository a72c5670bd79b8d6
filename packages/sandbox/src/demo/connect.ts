// One connection to a PostgreSQL server, for a few statements.
import pg from 'pg';

const CONNECT_MS = 10_000;

/** Connects. `statementMs`: time limit of a statement in milliseconds; 0: no limit. Throws the errors of `pg`. */
export async function connectAlone(
  url: string,
  { name, statementMs }: { readonly name: string; readonly statementMs: number },
): Promise<pg.Client> {
  const client = new pg.Client({
    connectionString: url,
    application_name: name,
    connectionTimeoutMillis: CONNECT_MS,
    statement_timeout: statementMs === 0 ? false : statementMs,
    keepAlive: true,
  });
  client.on('error', () => undefined); // a lost connection also rejects the running query
  await client.connect();
  return client;
}

/** Returns the URL of another database on the same server, with the same user. */
export function withDatabase(url: string, name: string): string {
  const other = new URL(url);
  other.pathname = `/${encodeURIComponent(name)}`;
  return other.toString();
}

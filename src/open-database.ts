// Gets a daemon its database: starts the embedded one where that is the choice, waits for the other, brings the schema up to date.
import { type DatabaseChoice } from './config/index.js';
import { type Logger } from './observe/index.js';
import { Database, isUnavailable, sqlState } from './store/database.js';
import { migrate, OWN_MIGRATIONS, schemaState } from './store/migrations.js';

export type OpenDatabase = { readonly db: Database; readonly url: string; close(): Promise<void> };

const TRY_AGAIN_MS = 1_000;

/** The database's URL, and how to end what was started for it. The URL holds a password. */
export async function databaseUrl(
  choice: DatabaseChoice,
  log: Logger,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (choice.kind === 'url') return { url: choice.url.reveal(), stop: () => Promise.resolve() };
  // Loaded only when it is wanted: the container image leaves its binaries out.
  const { startEmbeddedPostgres } = await import('./postgres/embedded-postgres.js');
  const embedded = await startEmbeddedPostgres({
    dataDir: choice.dir,
    log: { info: (text) => log.info(text), warn: (text) => log.warn(text) },
  });
  return { url: embedded.url, stop: () => embedded.stop() };
}

/**
 * Waits until the database answers and its schema has all that this release needs: it brings it up to date, or waits for somebody who
 * may. A migration that fails is an error, not a reason to wait. A schema of a newer release will do, since migrations only add.
 * @param migrations the folder of this release's migrations
 */
export async function openDatabase(
  settings: { readonly database: DatabaseChoice; readonly databasePoolSize: number },
  log: Logger,
  signal: AbortSignal,
  migrations = OWN_MIGRATIONS,
): Promise<OpenDatabase> {
  const source = await databaseUrl(settings.database, log);
  for (let said = ''; ;) {
    let db: Database | null = null;
    try {
      db = await Database.open({
        url: source.url,
        poolSize: settings.databasePoolSize,
        onError: (err) => log.warn({ err }, 'a database connection was lost'),
      });
      const { missing, unknown } = await schemaState(db.orm, migrations);
      if (missing.length > 0) {
        const done = await migrate(source.url, { folder: migrations, signal });
        if (done.length > 0) log.info({ migrations: done }, 'the schema was brought up to date');
      }
      if (unknown.length > 0) log.info({ migrations: unknown }, 'the schema is of a newer release; this one goes on');
      return { db, url: source.url, close: () => source.stop() };
    } catch (err) {
      await db?.close();
      const why = waitsFor(err);
      if (signal.aborted || why === null) {
        await source.stop();
        throw err;
      }
      if (said !== why) log.error({ err }, why);
      said = why;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** What is waited for after this error, for the log; null: waiting does not help. */
function waitsFor(err: unknown): string | null {
  // insufficient_privilege: where the daemon's own user may not change the schema, somebody else runs the migrations.
  if (sqlState(err) === '42501') return 'the schema is behind and this user may not change it: run `crossbill migrate`';
  return isUnavailable(err) ? 'the database does not answer; trying again until it does' : null;
}

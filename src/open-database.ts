// Gets a daemon its database: starts the embedded one where that is the choice, waits for the other, brings the schema up to date.
import { type DatabaseChoice } from './config/index.js';
import { type Logger } from './observe/index.js';
import { Database, isUnavailable } from './store/database.js';
import { migrate } from './store/migrations.js';

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

/** Waits until the database answers; a schema that cannot be brought up to date is an error, not a reason to wait. */
export async function openDatabase(
  settings: { readonly database: DatabaseChoice; readonly databasePoolSize: number },
  log: Logger,
  signal: AbortSignal,
): Promise<OpenDatabase> {
  const source = await databaseUrl(settings.database, log);
  for (let waiting = false; ;) {
    try {
      const done = await migrate(source.url);
      if (done.length > 0) log.info({ migrations: done }, 'the schema was brought up to date');
      const db = await Database.open({
        url: source.url,
        poolSize: settings.databasePoolSize,
        onError: (err) => log.warn({ err }, 'a database connection was lost'),
      });
      return { db, url: source.url, close: () => source.stop() };
    } catch (err) {
      if (signal.aborted || !isUnavailable(err)) {
        await source.stop();
        throw err;
      }
      if (!waiting) log.error({ err }, 'the database does not answer; trying again until it does');
      waiting = true;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

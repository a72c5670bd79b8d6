// Opens the daemon's database: starts the embedded one or waits for the operator's own, then brings the schema up to
// date.
import { type DatabaseChoice } from './shared/config/index.js';
import { type Logger } from './shared/observe/index.js';
import { countersBehind, setForward } from './frames/store/counters.js';
import { Database, DatabaseRefused, isUnavailable, sqlState } from './frames/store/database.js';
import { mayMigrate, migrate, OWN_MIGRATIONS, schemaState } from './frames/store/migrations.js';

export type OpenDatabase = { readonly db: Database; readonly url: string; close(): Promise<void> };

const TRY_AGAIN_MS = 1_000;

/** Starts the embedded database, if chosen. Returns the URL with its password, and a function to stop this database. */
export async function databaseUrl(
  choice: DatabaseChoice,
  log: Logger,
): Promise<{ readonly url: string; stop(): Promise<void> }> {
  if (choice.kind === 'url') return { url: choice.url.reveal(), stop: () => Promise.resolve() };
  // Crossbill loads this package only if the operator chose it: the container image leaves its binaries out.
  const { startEmbeddedPostgres } = await import('@crossbill/embedded-postgres');
  const embedded = await startEmbeddedPostgres({
    dataDir: choice.dir,
    log: {
      info: (text) => log.info({ event: 'database.embedded' }, text),
      warn: (text) => log.warn({ event: 'database.embedded' }, text),
    },
  });
  return { url: embedded.url, stop: () => embedded.stop() };
}

/**
 * Waits until the database answers and its schema has everything this release needs. Crossbill migrates the schema
 * itself, or waits for a person with the right to do so. Rejects after a failed migration, unless a wait can help, for
 * example for a lock. A newer schema is fine, since migrations only add.
 * @param migrations the folder with the migrations of this release
 * @throws DatabaseRefused if waiting cannot help: a wrong password, an unknown name, a pooler in the wrong mode
 */
export async function openDatabase(
  settings: {
    readonly database: DatabaseChoice;
    readonly databasePoolSize: number;
  },
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
        serves: true,
        onError: (err) => log.warn({ event: 'database.connection_lost', err }, 'a database connection was lost'),
      });
      const { missing, unknown } = await schemaState(db.orm, migrations);
      if (missing.length > 0) {
        if (!(await mayMigrate(db.orm))) throw new SchemaOfOthers();
        const done = await migrate(source.url, { folder: migrations, signal });
        if (done.length > 0)
          log.info({ event: 'database.migrated', migrations: done }, 'Crossbill brought the schema up to date');
      }
      if (unknown.length > 0)
        log.info(
          { event: 'database.schema_newer', migrations: unknown },
          'the schema is from a newer release; this release keeps working with it',
        );
      const behind = await countersBehind(db.pool);
      await setForward(db.pool, behind);
      if (behind.length > 0)
        log.warn(
          { event: 'database.counters_behind', tables: behind.map((c) => c.table) },
          'the counters of ids stood behind their rows, as in a copy by replication; Crossbill set them forward',
        );
      return { db, url: source.url, close: () => source.stop() };
    } catch (err) {
      await db?.close();
      const why = waitsFor(err);
      if (signal.aborted || why === null) {
        await source.stop();
        throw err;
      }
      if (said !== why) log.error({ event: 'database.waiting', err }, why);
      said = why;
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
  }
}

/** The error if the schema is old and this database user may not change it. */
class SchemaOfOthers extends Error {
  constructor() {
    super(
      'the schema is too old, and this database user has no right to change it: run `crossbill migrate` as the owner of the database; trying again until the schema is new enough',
    );
  }
}

/** SQLSTATE insufficient_privilege. The error's own message names the missing right. */
export const LACKS_A_RIGHT = '42501';
export const RIGHT_MISSING =
  'this user of the database lacks a right: grant it, or run `crossbill migrate` as the owner of the tables';

/** The reason to wait after this error, for the log. Null: waiting does not help. */
function waitsFor(err: unknown): string | null {
  if (err instanceof DatabaseRefused) return null;
  if (err instanceof SchemaOfOthers) return err.message;
  switch (sqlState(err)) {
    case LACKS_A_RIGHT:
      return `${RIGHT_MISSING}; trying again until the user has the right`;
    case '53300': // too_many_connections, in the server, the database or the role
      return 'the database has no free connection: raise its connection limit, or lower DATABASE_POOL_SIZE of a replica; trying again until one is free';
    case '55P03': // lock_not_available
      return 'another session holds a lock on a table, so the migration changed nothing: wait, or end that session; trying again until the table is free';
    case '57P03': // cannot_connect_now
      return 'the database is starting, stopping or recovering; trying again until it answers';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return "the database's host name does not resolve; trying again until it does";
    case 'ENOENT':
      return "the database's socket does not exist; trying again until it does";
    default:
      return isUnavailable(err) ? 'the database does not answer; trying again until it does' : null;
  }
}

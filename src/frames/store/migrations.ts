// Runs the plain SQL files of migrations/ through TypeORM, under one lock for all replicas.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataSource, type Logger, type MigrationInterface, type QueryRunner } from 'typeorm';
import { poolConfig, poolOf } from './connect.js';
import { DatabaseRefused, sqlState } from './database-errors.js';
import { refusalOf } from './refusals.js';
import { checkServer } from './server.js';

/** The number of PostgreSQL's advisory lock: one replica migrates, the others wait. */
const MIGRATION_LOCK = 4_812_007;

const TRY_LOCK_EVERY_MS = 250;

/** The migrations of this release. `src/frames/store` and `dist/frames/store` are equally deep, so the path fits both. */
export const OWN_MIGRATIONS = join(dirname(fileURLToPath(import.meta.url)), '..', '..', '..', 'migrations');

type MigrationClass = new () => MigrationInterface;

/** Loads the files of a `migrations/` folder as TypeORM migrations, oldest first. */
export function loadMigrations(folder = OWN_MIGRATIONS): MigrationClass[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((file) => migrationOf(file, readFileSync(join(folder, file), 'utf8')));
}

function migrationOf(file: string, text: string): MigrationClass {
  const [head, down] = text.split(/^-- down$/m);
  const up = head?.split(/^-- up$/m)[1];
  if (up === undefined || down === undefined)
    throw new Error(`migrations/${file} needs the lines "-- up" and "-- down"`);
  const [number, ...words] = file.replace(/\.sql$/, '').split('-');
  // TypeORM orders migrations by the 13 digits at the end of their names.
  const name = `${words.join('_')}${(number ?? '').padStart(13, '1000000000000'.slice(0, 13 - (number ?? '').length))}`;
  return class implements MigrationInterface {
    readonly name = name;
    async up(db: QueryRunner): Promise<void> {
      await db.query(`set local lock_timeout = '10s'`);
      await db.query(up).catch((e: unknown) => {
        throw sqlState(e) === '57014' ? cancelled(file, e) : e;
      });
    }
    async down(db: QueryRunner): Promise<void> {
      await db.query(down);
    }
  };
}

// The error for a cancelled migration (query_canceled). A migration has no time limit, so a person or a tool has
// cancelled it.
function cancelled(file: string, cause: unknown): DatabaseRefused {
  return new DatabaseRefused(
    'migration_cancelled',
    `The database server cancelled the migration ${file} and undid it`,
    'Ask the administrator of the server about this cancel (pg_cancel_backend), then try again',
    cause,
  );
}

const nothing = (): void => undefined;
/**
 * TypeORM's own logger would print failures to stdout, into the output of a command. The caller reports them instead.
 */
const SILENT: Logger = {
  logQuery: nothing,
  logQueryError: nothing,
  logQuerySlow: nothing,
  logSchemaBuild: nothing,
  logMigration: nothing,
  log: nothing,
};

function dataSource(url: string, folder: string): DataSource {
  return new DataSource({
    type: 'postgres',
    applicationName: 'crossbill-migrate',
    logger: SILENT,
    migrations: loadMigrations(folder),
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    poolSize: 2,
    // A migration may take long, so no limit of the role or the database applies.
    extra: poolConfig(url, { name: 'crossbill-migrate', statementMs: 0 }),
  });
}

async function locked<T>(
  url: string,
  folder: string,
  signal: AbortSignal | null,
  work: (db: DataSource) => Promise<T>,
): Promise<T> {
  const db = dataSource(url, folder);
  try {
    await db.initialize();
    await checkServer(poolOf(db), poolOf(db));
  } catch (e) {
    await db.destroy().catch(() => undefined);
    throw refusalOf(e);
  }
  const lock = db.createQueryRunner();
  try {
    // Asks repeatedly for the lock instead of blocking: a signal must be able to stop the process.
    while (!(await taken(lock))) {
      if (signal?.aborted === true) throw new MigrationEnded('stopped while another process migrates the database');
      await new Promise((resolve) => setTimeout(resolve, TRY_LOCK_EVERY_MS));
    }
    try {
      return await work(db);
    } finally {
      await lock.query('select pg_advisory_unlock($1)', [MIGRATION_LOCK]);
    }
  } finally {
    await lock.release();
    await db.destroy();
  }
}

async function taken(lock: QueryRunner): Promise<boolean> {
  const [row] = (await lock.query('select pg_try_advisory_lock($1) as taken', [MIGRATION_LOCK])) as {
    taken: boolean;
  }[];
  return row?.taken === true;
}

/** The signal ended the wait for the lock. Nothing changed. */
export class MigrationEnded extends Error {
  readonly code = 'store.migration_ended';
}

/**
 * Brings the schema up to date. Returns the names of the migrations it ran, or none if the schema was current.
 * @param signal ends the wait for another migrating process
 * @throws MigrationEnded after this signal
 * @throws DatabaseRefused if the database is unusable, or somebody cancelled a migration
 */
export async function migrate(
  url: string,
  { folder = OWN_MIGRATIONS, signal = null }: { folder?: string; signal?: AbortSignal | null } = {},
): Promise<string[]> {
  return locked(url, folder, signal, async (db) => {
    await refuseOthers(db, folder);
    return (await db.runMigrations()).map((m) => m.name);
  });
}

/** Undoes the newest migration. For tests, and to undo a release before its first traffic. */
export async function undoLastMigration(url: string): Promise<void> {
  await locked(url, OWN_MIGRATIONS, null, (db) => db.undoLastMigration());
}

export type SchemaState = {
  /** Migrations of this release missing in the database. With any of them missing, a daemon takes no traffic. */
  readonly missing: readonly string[];
  /**
   * Migrations in the database unknown to this release: a newer release ran here. This release can run with them, since
   * migrations only add.
   */
  readonly unknown: readonly string[];
};

/**
 * Refuses a database with the tables of another program: one of our tables without our list of migrations, or another
 * program's list under this name.
 * @throws DatabaseRefused
 */
async function refuseOthers(db: DataSource, folder: string): Promise<void> {
  const texts = readdirSync(folder).filter((name) => name.endsWith('.sql'));
  const ours = texts.flatMap((name) =>
    Array.from(readFileSync(join(folder, name), 'utf8').matchAll(/^create table (\w+)/gm), ([, table]) => table),
  );
  const rows = await db.query<{ name: string }[]>(
    `select c.relname as name from pg_class c where c.relnamespace = current_schema()::regnamespace and case
        when to_regclass('schema_migration') is null then c.relname = any($1)
        else c.oid = to_regclass('schema_migration') and not exists (
          select from pg_attribute a where a.attrelid = c.oid and a.attname = 'name') end
      order by 1`,
    [ours],
  );
  if (rows.length === 0) return;
  throw new DatabaseRefused(
    'others_tables',
    `The database holds tables of another program (${rows.map((r) => r.name).join(', ')})`,
    'Name a database of its own for Crossbill in DATABASE_URL',
  );
}

/**
 * Compares the schema of the database with this release.
 * @throws DatabaseRefused if another program uses the database
 */
export async function schemaState(db: DataSource, folder = OWN_MIGRATIONS): Promise<SchemaState> {
  await refuseOthers(db, folder);
  const own = loadMigrations(folder).map((M) => new M().name ?? '');
  const [table] = await db.query<{ there: boolean }[]>(`select to_regclass('schema_migration') is not null as there`);
  if (table?.there !== true) return { missing: own, unknown: [] };
  const rows = await db.query<{ name: string }[]>('select name from schema_migration order by name');
  const done = new Set(rows.map((r) => r.name));
  return {
    missing: own.filter((name) => !done.has(name)),
    unknown: [...done].filter((name) => !own.includes(name)),
  };
}

/**
 * True if the database user may change the schema. If the tables exist, the user must own them. If not, the user must
 * own the database or the schema, or have CREATE granted by name. CREATE in `public` for everybody, the default before
 * PostgreSQL 15, is not enough: the daemon's own user would become the owner of the ledger unnoticed.
 */
export async function mayMigrate(db: DataSource): Promise<boolean> {
  const [row] = await db.query<{ may: boolean | null }[]>(
    `select case when to_regclass('schema_migration') is not null
              then (select pg_has_role(c.relowner, 'usage') from pg_class c where c.oid = to_regclass('schema_migration'))
              else pg_has_role(d.datdba, 'usage') or pg_has_role(n.nspowner, 'usage') or exists (
                select from aclexplode(n.nspacl) as a
                 where a.privilege_type = 'CREATE' and a.grantee <> 0 and pg_has_role(a.grantee, 'usage'))
            end as may
       from pg_database d, pg_namespace n where d.datname = current_database() and n.nspname = current_schema()`,
  );
  return row?.may === true;
}

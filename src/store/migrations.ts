// Runs the plain SQL files of migrations/ through TypeORM, under a lock that replicas share.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DataSource, type MigrationInterface, type QueryRunner } from 'typeorm';

/** Any number, the same in every replica: one of them migrates, the others wait. */
const MIGRATION_LOCK = 4_812_007;

type MigrationClass = new () => MigrationInterface;

/** The files of `migrations/`, oldest first, as TypeORM migrations. */
export function loadMigrations(): MigrationClass[] {
  const folder = findFolder();
  return readdirSync(folder)
    .filter((name) => name.endsWith('.sql'))
    .sort()
    .map((file) => migrationOf(file, readFileSync(join(folder, file), 'utf8')));
}

function findFolder(): string {
  // `src/store` and `dist/store` are equally deep.
  return join(dirname(fileURLToPath(import.meta.url)), '..', '..', 'migrations');
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
      await db.query(up);
    }
    async down(db: QueryRunner): Promise<void> {
      await db.query(down);
    }
  };
}

function dataSource(url: string): DataSource {
  return new DataSource({
    type: 'postgres',
    url,
    applicationName: 'crossbill-migrate',
    migrations: loadMigrations(),
    migrationsTableName: 'schema_migration',
    migrationsTransactionMode: 'each',
    poolSize: 2,
  });
}

async function locked<T>(url: string, work: (db: DataSource) => Promise<T>): Promise<T> {
  const db = dataSource(url);
  await db.initialize();
  const lock = db.createQueryRunner();
  try {
    await lock.query('select pg_advisory_lock($1)', [MIGRATION_LOCK]);
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

/** Brings the schema up to date. Gives the names of the migrations that were run; none when it already was. */
export async function migrate(url: string): Promise<string[]> {
  return locked(url, async (db) => (await db.runMigrations()).map((m) => m.name));
}

/** Takes the newest migration back. For tests and for a release that must be undone before it took traffic. */
export async function undoLastMigration(url: string): Promise<void> {
  await locked(url, (db) => db.undoLastMigration());
}

/** True when a migration of this release has not been run on the database: such a daemon takes no traffic. */
export async function isBehind(db: DataSource): Promise<boolean> {
  const [table] = await db.query<{ there: boolean }[]>(`select to_regclass('schema_migration') is not null as there`);
  if (table?.there !== true) return true;
  const rows = await db.query<{ name: string }[]>('select name from schema_migration');
  const done = new Set(rows.map((r) => r.name));
  return loadMigrations().some((M) => !done.has(new M().name ?? ''));
}

// Databases for tests: each test gets its own copy of a database with all migrations.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

export type TestDatabase = {
  readonly url: string;
  /** Drops the database and closes its clients. */
  drop(): Promise<void>;
};

/** Without fsync, copying files takes a third of the time. Other servers sync, and PostgreSQL 14 has no such option. */
const COPY = process.env.TEST_DATABASE_URL ? '' : ' strategy file_copy';

type Migrate = (databaseUrl: string) => Promise<unknown>;

/** The URL of the database `postgres` on the run's server. */
export function adminUrl(): string {
  const url = process.env.CROSSBILL_TEST_ADMIN_URL;
  if (!url) throw new Error('no PostgreSQL for tests: global-setup.js has not run');
  return url;
}

/** A new database with the tables of the migrations, all empty. */
export async function freshDatabase(): Promise<TestDatabase> {
  const migrations = await ownMigrations();
  const template = await migratedTemplate(migrations.version, migrations.migrate);
  return copyOf(template);
}

/** A new empty database, for tests of the migrations themselves. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return copyOf('template0');
}

/**
 * Runs `work` while no other process of the run does work of this name. The lock ends with its connection, however the
 * process ends.
 */
export async function alone<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  return asAdmin(async (admin) => {
    await admin.query('select pg_advisory_lock(hashtext($1))', [name]);
    return work();
  });
}

/**
 * Returns the name of a database after `migrate`. The first caller in any process creates it, and the run keeps it.
 * `version` tells apart different migrations on a server that several runs use.
 */
export async function migratedTemplate(version: string, migrate: Migrate): Promise<string> {
  const name = `crossbill_template_${createHash('sha256').update(version).digest('hex').slice(0, 16)}`;
  await asAdmin(async (admin) => {
    // This connection holds the lock until it ends. Other processes wait here and then find the database.
    await admin.query(`select pg_advisory_lock(hashtext($1))`, [name]);
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 1) return;
    // The database gets its name when it is complete, so a killed run leaves no half-finished one.
    const draft = `${name}_draft`;
    await admin.query(`drop database if exists ${draft} with (force)`);
    await admin.query(`create database ${draft} template template0`);
    await migrate(urlOf(draft));
    await admin.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

/** A backup: copies a database that has no connections. */
export function copyDatabase(url: string): Promise<TestDatabase> {
  return copyOf(new URL(url).pathname.slice(1));
}

async function copyOf(template: string): Promise<TestDatabase> {
  const name = `crossbill_test_${randomBytes(8).toString('hex')}`;
  await asAdmin((admin) => admin.query(`create database ${name} template ${template}${COPY}`));
  const drop = async (): Promise<void> => {
    await asAdmin((admin) => admin.query(`drop database if exists ${name} with (force)`));
  };
  return { url: urlOf(name), drop };
}

function urlOf(database: string): string {
  const url = new URL(adminUrl());
  url.pathname = `/${database}`;
  return url.toString();
}

async function asAdmin<T>(work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const admin = new pg.Client({ connectionString: adminUrl() });
  await admin.connect();
  try {
    return await work(admin);
  } finally {
    await admin.end();
  }
}

const RUNNER = '../../../src/frames/store/migrations.js';

/** The store's own migrations. The hash of their files is their version, so a change creates a new template. */
async function ownMigrations(): Promise<{ readonly version: string; readonly migrate: Migrate }> {
  const folder = join(import.meta.dirname, '../../../migrations');
  const source = readdirSync(folder, { withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => `${entry.name}\n${readFileSync(join(folder, entry.name), 'utf8')}`)
    .sort()
    .join('\n');
  if (!existsSync(join(import.meta.dirname, RUNNER.replace(/\.js$/, '.ts')))) {
    return { version: `none ${source}`, migrate: async () => undefined };
  }
  const { migrate } = (await import(RUNNER)) as { migrate: Migrate };
  return { version: source, migrate };
}

// Databases for tests: each gets its own, a copy of one with all migrations.
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';

export type TestDatabase = {
  readonly url: string;
  /** Removes it, and lets its clients go. */
  drop(): Promise<void>;
};

/** Without fsync files are copied in a third of the time. Other people's servers sync, and 14 knows no strategy. */
const COPY = process.env.TEST_DATABASE_URL ? '' : ' strategy file_copy';

type Migrate = (databaseUrl: string) => Promise<unknown>;

/** The run's server, its database `postgres`. */
export function adminUrl(): string {
  const url = process.env.CROSSBILL_TEST_ADMIN_URL;
  if (!url) throw new Error('no PostgreSQL for tests: global-setup.js has not run');
  return url;
}

/** A new database with the tables of the migrations and nothing in them. */
export async function freshDatabase(): Promise<TestDatabase> {
  const migrations = await ownMigrations();
  const template = await migratedTemplate(migrations.version, migrations.migrate);
  return copyOf(template);
}

/** A new database with nothing in it, for tests of the migrations themselves. */
export async function emptyDatabase(): Promise<TestDatabase> {
  return copyOf('template0');
}

/**
 * Runs while no other process of the run does anything of this name: the lock goes with its connection, however we end.
 */
export async function alone<T>(name: string, work: () => T | Promise<T>): Promise<T> {
  return asAdmin(async (admin) => {
    await admin.query('select pg_advisory_lock(hashtext($1))', [name]);
    return work();
  });
}

/**
 * The name of a database after `migrate`: made by the first caller in any process, and kept for the run. `version`
 * tells one set of migrations from another on a server kept between runs.
 */
export async function migratedTemplate(version: string, migrate: Migrate): Promise<string> {
  const name = `crossbill_template_${createHash('sha256').update(version).digest('hex').slice(0, 16)}`;
  await asAdmin(async (admin) => {
    // Held by this connection until it ends: the others wait here, then find the database.
    await admin.query(`select pg_advisory_lock(hashtext($1))`, [name]);
    const found = await admin.query('select 1 from pg_database where datname = $1', [name]);
    if (found.rowCount === 1) return;
    // It gets its name when complete: a run killed half way leaves nothing alike.
    const draft = `${name}_draft`;
    await admin.query(`drop database if exists ${draft} with (force)`);
    await admin.query(`create database ${draft} template template0`);
    await migrate(urlOf(draft));
    await admin.query(`alter database ${draft} rename to ${name}`);
  });
  return name;
}

/** A backup: a copy of a database without connections. */
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

const RUNNER = '../../src/store/migrations.js';

/** The migrations of the store, named by the content of their files: a change makes a new template. */
async function ownMigrations(): Promise<{ readonly version: string; readonly migrate: Migrate }> {
  const folder = join(import.meta.dirname, '../../migrations');
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

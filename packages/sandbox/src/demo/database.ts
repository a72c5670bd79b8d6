// A fresh database for each run of the demo: on the embedded PostgreSQL, or on the server in DATABASE_URL.
import type pg from 'pg';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone, withDatabase } from './connect.js';

export type DemoDatabase = {
  /** Contains a password: do not print it. */
  readonly url: string;
  /** One line about the database, for people. */
  readonly about: string;
  /** Drops the database, and stops the server if the demo started it. */
  stop(): Promise<void>;
};

const PREFIX = 'crossbill_demo_';

/** @param url a server to use; null: the embedded server, with its files in `dataDir` */
export async function openDemoDatabase(
  url: string | null,
  dataDir: string,
  warn: (text: string) => void,
): Promise<DemoDatabase> {
  if (url !== null) {
    const name = await createIn(url);
    return {
      url: withDatabase(url, name),
      about: `database ${name} on the server of DATABASE_URL`,
      stop: () => dropIn(url, name),
    };
  }
  const embedded = await startEmbeddedPostgres({ dataDir, log: { info: () => undefined, warn } });
  try {
    await dropLeftovers(embedded.adminUrl);
    const name = await createIn(embedded.adminUrl);
    return {
      url: withDatabase(embedded.url, name),
      about: `embedded PostgreSQL on port ${embedded.port}, database ${name}`,
      stop: async () => {
        await dropIn(embedded.adminUrl, name).catch(() => undefined); // the next run drops it
        await embedded.stop();
      },
    };
  } catch (error) {
    await embedded.stop();
    throw error;
  }
}

async function createIn(adminUrl: string): Promise<string> {
  const name = `${PREFIX}${Date.now().toString(36)}_${process.pid}`;
  await asAdmin(adminUrl, (admin) => admin.query(`create database ${name}`));
  return name;
}

async function dropIn(adminUrl: string, name: string): Promise<void> {
  await asAdmin(adminUrl, (admin) => admin.query(`drop database if exists ${name} with (force)`));
}

/** Drops the databases of killed runs. PostgreSQL refuses to drop the database of a running demo. */
async function dropLeftovers(adminUrl: string): Promise<void> {
  await asAdmin(adminUrl, async (admin) => {
    const found = await admin.query<{ datname: string }>('select datname from pg_database where datname like $1', [
      `${PREFIX.replaceAll('_', '\\_')}%`,
    ]);
    for (const { datname } of found.rows)
      await admin.query(`drop database if exists ${datname}`).catch(() => undefined);
  });
}

async function asAdmin<T>(url: string, work: (admin: pg.Client) => Promise<T>): Promise<T> {
  const client = await connectAlone(url, { name: 'crossbill-demo', statementMs: 0 });
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

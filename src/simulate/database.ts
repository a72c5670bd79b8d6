// The simulation's PostgreSQL: an embedded one of its own without fsync, or the server that DATABASE_URL names.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { startEmbeddedPostgres } from '../postgres/embedded-postgres.js';
import { migrate } from '../store/migrations.js';
import { SimStore } from './sim-store.js';

export type SimDatabase = { readonly store: SimStore; close(): Promise<void> };

// Nothing here outlives the run, so nothing has to survive a crash of the machine. Rows live for milliseconds: no autovacuum.
const SETTINGS = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** @param url of a server where a database may be made; null: an embedded one, gone afterwards. */
export async function openSimDatabase(url: string | null): Promise<SimDatabase> {
  const name = `crossbill_simulate_${process.pid}`;
  if (url !== null) {
    await asAdmin(url, `create database ${name}`);
    const drop = (): Promise<void> => asAdmin(url, `drop database if exists ${name} with (force)`);
    return open(named(url, name), drop);
  }
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-simulate-'));
  const log = { info: () => undefined, warn: (text: string) => void process.stderr.write(`${text}\n`) };
  const server = await startEmbeddedPostgres({ dataDir: folder, log, settings: SETTINGS });
  return open(server.url, async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });
}

async function open(url: string, remove: () => Promise<void>): Promise<SimDatabase> {
  try {
    await migrate(url);
    const store = await SimStore.open(url);
    return {
      store,
      close: async () => {
        await store.close();
        await remove();
      },
    };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function asAdmin(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 10_000 });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

function named(url: string, database: string): string {
  const to = new URL(url);
  to.pathname = `/${database}`;
  return to.toString();
}

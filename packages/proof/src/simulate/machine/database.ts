// The PostgreSQL of the simulation: an embedded server without fsync, or the server in DATABASE_URL.
import { existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { withDatabase } from '#src/shared/config/index.js';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/frames/store/connect.js';
import { migrate } from '#src/frames/store/migrations.js';

export type SimDatabases = {
  /** One database URL for each process, so no two share a database. */
  readonly urls: readonly string[];
  close(): Promise<void>;
};

// The data need not survive a crash of the machine: the run deletes it. Autovacuum is off, because rows live for
// milliseconds.
const SETTINGS = {
  fsync: 'off',
  synchronous_commit: 'off',
  full_page_writes: 'off',
  autovacuum: 'off',
  jit: 'off',
  // Tables have few rows: planning a statement for its exact values would cost more than running it.
  plan_cache_mode: 'force_generic_plan',
};
const MEMORY = '/dev/shm';
/** Four times the size of a server's data and log. */
const MEMORY_NEEDED = 2 * 1024 ** 3; // bytes

/** @param url the server for the databases; null: an embedded server, removed after the run */
export async function openSimDatabases(url: string | null, count: number): Promise<SimDatabases> {
  if (url !== null) return makeDatabases(url, count);
  const folder = mkdtempSync(join(roomiest(), 'crossbill-simulate-'));
  const log = { info: () => undefined, warn: (text: string) => void process.stderr.write(`${text}\n`) };
  const server = await startEmbeddedPostgres({ dataDir: folder, log, settings: SETTINGS });
  const remove = async (): Promise<void> => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const made = await makeDatabases(server.adminUrl, count);
    return { urls: made.urls, close: remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

/** Returns the folder for the data: in memory if 2 GB are free there, since a shared disk would slow the runs. */
function roomiest(): string {
  if (!existsSync(MEMORY)) return tmpdir();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize >= MEMORY_NEEDED ? MEMORY : tmpdir();
}

/** Runs the migrations in the first database. The other databases are copies of it. */
async function makeDatabases(url: string, count: number): Promise<SimDatabases> {
  const names = Array.from({ length: count }, (_, n) => `crossbill_simulate_${process.pid}_${n}`);
  const [first, ...copies] = names;
  const close = async (): Promise<void> => {
    for (const name of names) await asAdmin(url, `drop database if exists ${name} with (force)`);
  };
  try {
    await asAdmin(url, `create database ${first ?? ''}`);
    await migrate(withDatabase(url, first ?? ''));
    for (const name of copies) await asAdmin(url, `create database ${name} template ${first ?? ''}`);
    return { urls: names.map((name) => withDatabase(url, name)), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function asAdmin(url: string, sql: string): Promise<void> {
  const client = await connectAlone(url, { name: 'crossbill-simulate', statementMs: 0 });
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

// The PostgreSQL for the measurements: an embedded one of this run, or the server in DATABASE_URL.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/store/connect.js';

export type BenchServer = {
  /** Of a database to create others from. */
  readonly adminUrl: string;
  /** Its first process; 0 if unknown, and then processor times of PostgreSQL are 0. */
  readonly pid: number;
  /** Ends everything started for it. */
  stop(): Promise<void>;
};

/**
 * @param url of a role with the right to create databases on another server; empty: an embedded server with its files
 * in a separate folder
 */
export async function benchServer(url: string | undefined): Promise<BenchServer> {
  if (url) return { adminUrl: url, pid: await pidOf(url), stop: () => Promise.resolve() };
  const dir = await mkdtemp(join(tmpdir(), 'crossbill-bench-'));
  const quiet = { info: () => undefined, warn: (text: string) => console.error(text) };
  const server = await startEmbeddedPostgres({ dataDir: dir, log: quiet });
  return {
    adminUrl: server.adminUrl,
    get pid() {
      return server.pid;
    },
    stop: async () => {
      await server.stop();
      await rm(dir, { recursive: true, force: true });
    },
  };
}

/** From the server's lock file, readable for a superuser. 0 if it runs on another machine or the role may not. */
async function pidOf(url: string): Promise<number> {
  const client = await connectAlone(url, { name: 'crossbill-bench', statementMs: 0 });
  try {
    const found = await client.query<{ pid: string }>(
      `select split_part(pg_read_file('postmaster.pid'), E'\\n', 1) as pid where inet_server_addr() <<= '127.0.0.0/8'`,
    );
    return Number(found.rows[0]?.pid ?? 0);
  } catch {
    return 0;
  } finally {
    await client.end();
  }
}

// The PostgreSQL for the measurements: an embedded server of this run, or the server in DATABASE_URL.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startEmbeddedPostgres } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/frames/store/connect.js';

export type BenchServer = {
  /** The URL of a database from which a client can create others. */
  readonly adminUrl: string;
  /** The id of the server's first process. 0: unknown, and then PostgreSQL's processor times are 0. */
  readonly pid: number;
  /** Stops everything this run started for the server. */
  stop(): Promise<void>;
};

/**
 * @param url another server, with a role allowed to create databases; empty: an embedded server with its files in a
 * separate folder
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

/**
 * Reads the id from the server's lock file, as a superuser may. 0: the server runs on another machine, or the role is
 * no superuser.
 */
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

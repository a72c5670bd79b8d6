// Starts PostgreSQL in the data folder or takes over a running server, and restarts it if it ends. All owners, the
// processes with this folder, share the server. The last owner stops it.
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { type Binaries, locateNative, prepareBinaries } from './binaries.js';
import { type Cluster, clusterIn, ensureCluster, readPassword, ROLE } from './cluster.js';
import { EmbeddedPostgresError, systemCode } from './errors.js';
import { type Claim, claimServer, hasOwner } from './owners.js';
import { findServer, freePort, hasLock, isPostgres, startServer, stopServer } from './postmaster.js';
import { chooseRunAs, type RunAs } from './run-as.js';

/** The database of the daemon. */
const DATABASE = 'crossbill';
/** Far longer than recovery after a crash takes, because `max_wal_size` bounds recovery. */
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 8_000; // leaves time for the rest of the shutdown: a daemon stops within 20 s
const WATCH_EVERY_MS = 1_000;
const OTHERS_RESTART_MS = 5 * WATCH_EVERY_MS;

export type EmbeddedPostgresOptions = {
  /** `CROSSBILL_DATA_DIR`. Created if missing. */
  readonly dataDir: string;
  /** Receives messages about starts and failures of the server, never with the password. */
  readonly log: { info(message: string): void; warn(message: string): void };
  /**
   * Settings of postgresql.conf in addition to the defaults here, for example `{ fsync: 'off' }` in tests. They apply
   * only if this call starts the server.
   */
  readonly settings?: Readonly<Record<string, string>>;
};

export type EmbeddedPostgres = {
  /**
   * The URL of the database `crossbill`. It contains the password: do not log it. It stays the same as long as this
   * handle lives.
   */
  readonly url: string;
  /** The URL of the database `postgres`, to create others from it. */
  readonly adminUrl: string;
  readonly port: number;
  /** The process id of the server now. A restart changes it. */
  readonly pid: number;
  /** True if the server ran already: another owner uses it, or a killed owner left it. */
  readonly adopted: boolean;
  /** Releases the server. If no other process owns it, stops it and waits for its end. Safe to call again. */
  stop(): Promise<void>;
};

/**
 * Starts the PostgreSQL of a data folder, or takes over a running one. The server outlives a killed owner by a few
 * seconds. If the server ends before its owner, the owner restarts it on the same port. Throws `EmbeddedPostgresError`.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  const server = new OwnedServer(options);
  await server.start();
  return server;
}

class OwnedServer implements EmbeddedPostgres {
  port = 0;
  pid = 0;
  adopted = false;
  private readonly cluster: Cluster;
  private readonly settings: Readonly<Record<string, string>>;
  private runAs: RunAs = null;
  private binaries: Binaries | null = null;
  private claim: Claim | null = null;
  private watch: NodeJS.Timeout | null = null;
  private repair: Promise<void> | null = null;
  private stopped: Promise<void> | null = null;
  private password = '';

  constructor(private readonly options: EmbeddedPostgresOptions) {
    this.cluster = clusterIn(options.dataDir);
    this.settings = options.settings ?? {};
  }

  get url(): string {
    return this.urlOf(DATABASE);
  }

  get adminUrl(): string {
    return this.urlOf('postgres');
  }

  async start(): Promise<void> {
    try {
      this.runAs = chooseRunAs(this.cluster.data);
      ensureCluster(this.options.dataDir, () => this.prepared(), this.runAs, this.settings.fsync !== 'off');
      this.password = readPassword(this.cluster);
      if (hasOwner(this.cluster)) await this.waitForTheirs();
      // Claim first, then search: a process about to stop the server then sees this claim.
      this.claim = claimServer(this.cluster);
      await this.ensureRunning(null);
      await this.ensureDatabase();
    } catch (error) {
      await this.stop();
      throw this.explained(error);
    }
    this.watch = setInterval(() => this.look(), WATCH_EVERY_MS).unref();
    this.options.log.info(`embedded PostgreSQL ${this.adopted ? 'found' : 'started'} on port ${this.port}`);
  }

  async stop(): Promise<void> {
    this.stopped ??= this.stopOnce();
    return this.stopped;
  }

  private async stopOnce(): Promise<void> {
    if (this.watch !== null) clearInterval(this.watch);
    await this.repair;
    if (this.claim === null || !this.claim.release()) return;
    // No await since the release, so another process hardly has time to claim the server before the stop.
    const found = findServer(this.cluster);
    if (found !== null) await stopServer(found.pid, STOP_TIMEOUT_MS);
  }

  private prepared(): Binaries {
    this.binaries ??= prepareBinaries(locateNative(), this.runAs);
    return this.binaries;
  }

  private urlOf(database: string): string {
    return `postgresql://${ROLE}:${this.password}@127.0.0.1:${this.port}/${database}`;
  }

  /**
   * Waits while other processes own a server unknown to this process. Either the server died and its owners are about
   * to restart it, or it runs in another container on the same folder. PostgreSQL's own checks do not see into that
   * container, and two servers would destroy the data. Throws `not_answering` after 5 seconds.
   */
  private async waitForTheirs(): Promise<void> {
    const deadline = performance.now() + OTHERS_RESTART_MS;
    while (hasLock(this.cluster) && findServer(this.cluster) === null && hasOwner(this.cluster)) {
      if (performance.now() > deadline) throw this.notAnswering('it is not visible from here, as in another container');
      await sleep(50);
    }
  }

  /**
   * Resolves when a server of this cluster answers. `port`: the port it must have (clients know it). Null: any port.
   */
  private async ensureRunning(port: number | null): Promise<void> {
    const deadline = performance.now() + START_TIMEOUT_MS;
    let lastProblem = 'it does not answer';
    do {
      const found = findServer(this.cluster);
      if (found !== null) {
        if (found.ready && found.port !== null && (port === null || found.port === port)) {
          const problem = await this.tryConnect(found.port);
          if (problem === null) return this.use(found.pid, found.port, true);
          lastProblem = problem;
        }
        await sleep(50); // the server is still starting, recovering or stopping
        continue;
      }
      const wanted = port ?? (await freePort());
      const outcome = await startServer(this.cluster, this.prepared(), this.runAs, {
        settings: this.settings,
        port: wanted,
        timeoutMs: START_TIMEOUT_MS,
      });
      if (outcome.is === 'ready') return this.use(outcome.pid, wanted, false);
      if (outcome.is === 'failed' || (outcome.is === 'port' && port !== null)) throw this.startFailed(outcome.why);
      // Another owner was faster, processes of a killed server are still ending, or somebody took the port: search
      // again.
      await sleep(50);
    } while (performance.now() < deadline && this.stopped === null);
    throw this.notAnswering(lastProblem);
  }

  private notAnswering(why: string): EmbeddedPostgresError {
    return new EmbeddedPostgresError(
      'not_answering',
      `A PostgreSQL holds ${this.cluster.data} (postmaster.pid there has its process), unusable for us: ${why}`,
      'End that process, use another CROSSBILL_DATA_DIR',
    );
  }

  private use(pid: number, port: number, adopted: boolean): void {
    this.pid = pid;
    this.port = port;
    this.adopted = adopted;
  }

  private startFailed(why: string): EmbeddedPostgresError {
    return new EmbeddedPostgresError(
      'start_failed',
      `PostgreSQL ended before it was ready (${why})`,
      `See ${this.cluster.logFile}`,
    );
  }

  /** Connects. Returns null, or the problem. SCRAM authenticates both sides: only this cluster's server can pass. */
  private async tryConnect(port: number): Promise<string | null> {
    const client = this.client(port);
    try {
      await client.connect();
      return null;
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private async ensureDatabase(): Promise<void> {
    const client = this.client(this.port);
    try {
      await client.connect();
      const found = await client.query('select 1 from pg_database where datname = $1', [DATABASE]);
      if (found.rowCount === 0) await client.query(`create database ${DATABASE}`);
    } catch (error) {
      // 42P04, 23505: another owner created the database at the same time.
      if (!['42P04', '23505'].includes(systemCode(error) ?? '')) throw error;
    } finally {
      await client.end().catch(() => undefined);
    }
  }

  private client(port: number): pg.Client {
    const client = new pg.Client({
      host: '127.0.0.1',
      port,
      user: ROLE,
      password: this.password,
      database: 'postgres',
      connectionTimeoutMillis: 5_000,
    });
    // A lost connection also rejects the query. Without a listener this event would end the process.
    client.on('error', () => undefined);
    return client;
  }

  private look(): void {
    if (this.repair !== null || isPostgres(this.pid)) return;
    this.options.log.warn('embedded PostgreSQL ended, starting it again');
    this.repair = this.ensureRunning(this.port)
      .then(() => this.options.log.info(`embedded PostgreSQL runs again on port ${this.port}`))
      .catch((error: unknown) => this.options.log.warn(error instanceof Error ? error.message : String(error)))
      .finally(() => (this.repair = null));
  }

  private explained(error: unknown): unknown {
    const code = systemCode(error);
    if (error instanceof EmbeddedPostgresError || code === null || !/^E[A-Z]/.test(code)) return error;
    return new EmbeddedPostgresError(
      'data_dir_unusable',
      `The data folder ${this.options.dataDir} cannot be used (${code})`,
      'Start as the user that made it, use another CROSSBILL_DATA_DIR',
      error,
    );
  }
}

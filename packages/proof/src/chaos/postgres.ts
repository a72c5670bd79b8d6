// The PostgreSQL server of this run. A run can kill it, stop it without a checkpoint, start it again, copy it to a
// standby, and promote it.
import { type ChildProcess, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chownSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { locateNative, prepareBinaries, SERVER_ENV } from '@crossbill/embedded-postgres';
import { freePort, isPostgres } from '@crossbill/embedded-postgres';
import { chooseRunAs, type RunAs } from '@crossbill/embedded-postgres';
import { connectAlone } from '#src/frames/store/connect.js';
import { spawnServer } from './processes.js';

const DEBIAN = '/usr/lib/postgresql';
const READY_WITHIN_MS = 180_000;
const POLL_MS = 100;
const STANDS_WITHIN_MS = 60_000;
export const DATABASE = 'crossbill';

export type Programs = {
  /** The folder with `initdb` and `postgres`. */
  readonly bin: string;
  /** True: `pg_basebackup` and `pg_ctl` are there too. */
  readonly whole: boolean;
  /** The version, for people. */
  readonly about: string;
};

/** The newest programs of Debian, if the machine has them. Otherwise npm's binaries, which cannot make a standby. */
export function findPrograms(runAs: RunAs): Programs {
  const versions = existsSync(DEBIAN) ? readdirSync(DEBIAN).filter((v) => /^\d+$/.test(v)) : [];
  for (const version of versions.sort((a, b) => Number(b) - Number(a))) {
    const bin = join(DEBIAN, version, 'bin');
    if (['initdb', 'postgres', 'pg_basebackup', 'pg_ctl'].every((name) => existsSync(join(bin, name))))
      return { bin, whole: true, about: `Debian's PostgreSQL ${version}` };
  }
  const { initdb } = prepareBinaries(locateNative(), runAs);
  return { bin: join(initdb, '..'), whole: false, about: 'the embedded PostgreSQL' };
}

export type ServerOptions = {
  /** The folder for data, password and log, made if missing. The folders above must be open to every user. */
  readonly folder: string;
  /** The log file, if it is not in the folder. */
  readonly logFile?: string;
  readonly settings?: Readonly<Record<string, string>>;
};

export class RealPostgres {
  port = 0;
  /** How often the server has started, the first time included. */
  starts = 0;
  readonly logFile: string;
  private readonly data: string;
  private child: ChildProcess | null = null;
  private wanted = false;

  private constructor(
    private readonly options: ServerOptions,
    private readonly programs: Programs,
    private readonly runAs: RunAs,
    private readonly password: string,
  ) {
    this.data = join(options.folder, 'data');
    this.logFile = options.logFile ?? join(options.folder, 'postgres.log');
  }

  /** Makes and starts a new cluster with the daemons' database. */
  static async make(options: ServerOptions, programs: Programs): Promise<RealPostgres> {
    const runAs = chooseRunAs('/nowhere'); // root must run the server as another user
    const server = new RealPostgres(options, programs, runAs, randomBytes(16).toString('hex'));
    makeFolderFor(runAs, options.folder);
    const file = join(options.folder, 'password');
    writeFileSync(file, server.password, { mode: 0o600 });
    if (runAs !== null) chownSync(file, runAs.uid, runAs.gid);
    const access = ['--username=postgres', `--pwfile=${file}`, '--auth=scram-sha-256'];
    await server.run('initdb', [
      '-D',
      server.data,
      ...access,
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
      '--wal-segsize=1',
    ]);
    server.port = await freePort();
    await server.start();
    await server.query(`create database ${DATABASE}`, 'postgres');
    return server;
  }

  /** Makes and starts a standby in another folder. It reads this server's log at `port`, which may be a proxy's. */
  async standby(folder: string, port: number): Promise<RealPostgres> {
    const twin = new RealPostgres({ folder, logFile: `${folder}.log` }, this.programs, this.runAs, this.password);
    makeFolderFor(twin.runAs, folder);
    const from = ['-h', '127.0.0.1', '-p', String(port), '-U', 'postgres'];
    const how = ['-X', 'stream', '-R', '--checkpoint=fast', '--no-sync'];
    await twin.run('pg_basebackup', ['-D', twin.data, ...from, ...how], { PGPASSWORD: this.password });
    twin.port = await freePort();
    await twin.start();
    return twin;
  }

  /** The URL of the daemons' database. It contains a password: do not print it. */
  get url(): string {
    return this.urlOf(DATABASE);
  }

  get runs(): boolean {
    return this.pid !== null && isPostgres(this.pid);
  }

  /**
   * Starts the server and resolves when it answers a query. Tries again while the remains of a killed server are in the
   * way. Throws after `withinMs`.
   */
  async start(withinMs = READY_WITHIN_MS): Promise<void> {
    this.wanted = true;
    const deadline = performance.now() + withinMs;
    while (this.wanted) {
      if (!this.runs) {
        this.launch();
        await sleep(POLL_MS);
      }
      if (await this.replies()) return;
      if (performance.now() > deadline) throw new Error(`PostgreSQL does not start; see ${this.logFile}`);
      await sleep(POLL_MS);
    }
  }

  /**
   * Sends this signal to the server's first process and waits until this first process has ended. After a SIGKILL the
   * server's other processes may still be ending.
   */
  async end(signal: 'SIGKILL' | 'SIGQUIT' | 'SIGINT'): Promise<void> {
    this.wanted = false;
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill(signal);
    const insist = setTimeout(() => child.kill('SIGKILL'), 20_000);
    await ended;
    clearTimeout(insist);
  }

  /** Kills all processes of the server at one moment, as if the machine lost power. */
  async die(): Promise<void> {
    const { pid } = this;
    if (pid === null) return;
    killServer(pid);
    await this.end('SIGKILL');
  }

  /** Kills the session of a client. Returns false if no client has a session. */
  async killSession(): Promise<boolean> {
    const found = await this.query(
      `select pid from pg_stat_activity where backend_type = 'client backend' and pid <> pg_backend_pid()
        order by state = 'active' desc, backend_start limit 1`,
    );
    const pid = Number(found.rows[0]?.['pid'] ?? 0);
    if (pid > 1) kill(pid);
    return pid > 1;
  }

  /** Promotes the standby. Resolves when it accepts writes. */
  async promote(): Promise<void> {
    await this.run('pg_ctl', ['promote', '-D', this.data, '-w', '-t', '120']);
    await this.start();
  }

  query(
    sql: string,
    database = DATABASE,
    values: readonly unknown[] = [],
  ): Promise<pg.QueryResult<Record<string, unknown>>> {
    return asked(this.urlOf(database), sql, values);
  }

  get pid(): number | null {
    const { child } = this;
    return child === null || child.exitCode !== null || child.signalCode !== null ? null : (child.pid ?? null);
  }

  private urlOf(database: string): string {
    return `postgresql://postgres:${this.password}@127.0.0.1:${this.port}/${database}`;
  }

  private async replies(): Promise<boolean> {
    try {
      await this.query('select 1', 'postgres');
      return true;
    } catch {
      return false;
    }
  }

  private launch(): void {
    // Without fsync: this run kills processes, and their data survives. No run cuts the power.
    const settings = {
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      port: String(this.port),
      fsync: 'off',
      ...this.options.settings,
    };
    const args = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    this.child = spawnServer(join(this.programs.bin, 'postgres'), ['-D', this.data, ...args], {
      runAs: this.runAs,
      cwd: this.options.folder,
      logFile: this.logFile,
    });
    this.starts += 1;
  }

  /** Runs a program without blocking this process: the program may connect to a proxy in this process. */
  private async run(program: string, args: readonly string[], more: Record<string, string> = {}): Promise<void> {
    const child = spawn(join(this.programs.bin, program), [...args], {
      ...this.runAs,
      cwd: this.options.folder,
      env: { ...SERVER_ENV, ...more },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => (said += text));
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    if (code !== 0) throw new Error(`${program} failed: ${said.trim().split('\n').slice(-2).join(' ')}`);
  }
}

/** Runs one query on a new connection. */
export async function asked(
  url: string,
  sql: string,
  values: readonly unknown[] = [],
): Promise<pg.QueryResult<Record<string, unknown>>> {
  const client = await connectAlone(url, { name: 'crossbill-chaos', statementMs: 60_000 });
  client.on('error', () => undefined); // a lost connection also rejects the query
  try {
    return await client.query<Record<string, unknown>>(sql, [...values]);
  } finally {
    await client.end().catch(() => undefined);
  }
}

/** Makes a folder that belongs to the servers' user, unless it exists. */
export function makeFolderFor(runAs: RunAs, folder: string): void {
  mkdirSync(folder, { recursive: true, mode: 0o755 });
  if (runAs !== null) chownSync(folder, runAs.uid, runAs.gid);
}

/** Waits until a standby streams from this primary. `synchronously`: until commits wait for the standby too. */
export async function untilFollowed(
  primary: { query(sql: string, database: string): Promise<pg.QueryResult<Record<string, unknown>>> },
  how: 'synchronously' | 'asynchronously',
): Promise<void> {
  const which = how === 'synchronously' ? `and sync_state = 'sync'` : '';
  const sql = `select count(*) as n from pg_stat_replication where state = 'streaming' ${which}`;
  const deadline = performance.now() + STANDS_WITHIN_MS;
  while (Number((await primary.query(sql, 'postgres')).rows[0]?.['n']) === 0) {
    if (performance.now() > deadline) throw new Error(`no standby follows ${how}`);
    await sleep(200);
  }
}

/** Kills all processes of a server at one moment. */
export function killServer(pid: number): void {
  process.kill(pid, 'SIGSTOP'); // a stopped process cannot start another process before the kill
  for (const child of childrenOf(pid)) kill(child);
  kill(pid);
}

function childrenOf(pid: number): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        // The line has the form: pid (name) state ppid …. The name may contain blanks, so read the parent's id from the
        // part after the last bracket.
        return readFileSync(`/proc/${name}/stat`, 'utf8').split(') ').at(-1)?.split(' ')[1] === String(pid);
      } catch {
        return false;
      }
    })
    .map(Number);
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // Ignore: the process has ended already.
  }
}

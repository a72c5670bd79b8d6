// A PostgreSQL server as Debian installs it, with its own folder, port and password. Debian's own programs make, start
// and stop it.
import { execFile, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { appendFileSync, chownSync, existsSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { SERVER_ENV } from '@crossbill/embedded-postgres';
import { freePort } from '@crossbill/embedded-postgres';
import { chooseRunAs } from '@crossbill/embedded-postgres';

const BIN = '/usr/lib/postgresql/15/bin';

/** The reason this machine cannot run the drill. Null: it has Debian's PostgreSQL. */
export const NO_DEBIAN_POSTGRES = existsSync(join(BIN, 'pg_basebackup'))
  ? null
  : `there is no ${BIN}: apt install postgresql-15`;

/** Ends all servers and removes their folder when this process ends, however it ends. */
const UNTIL_WE_END =
  'cat >/dev/null; for d in "$0"/data*; do pg_ctl stop -D "$d" -m immediate -s; done; cd /; rm -rf "$0"';

const run = promisify(execFile);

export type Ran = { readonly out: string; readonly err: string };

/** All servers of one drill, in one folder. */
export class DebianServers {
  readonly folder = mkdtempSync(join(tmpdir(), 'crossbill-debian-'));
  readonly password = randomBytes(16).toString('hex');
  private readonly runAs = chooseRunAs(this.folder.concat('/none'));
  private readonly watcher;
  /** The environment variables for PostgreSQL's programs. */
  readonly env = { ...SERVER_ENV, PATH: `${BIN}:${SERVER_ENV.PATH}`, PGPASSWORD: this.password, HOME: this.folder };

  constructor() {
    this.own(this.folder);
    this.watcher = spawn('/bin/sh', ['-c', UNTIL_WE_END, this.folder], {
      ...this.runAs,
      cwd: this.folder,
      env: this.env,
      detached: true, // Ctrl-C does not reach it
      stdio: ['pipe', 'ignore', 'ignore'],
    });
    this.watcher.unref();
  }

  /** Makes and starts a new, empty server. */
  async primary(settings: readonly string[] = []): Promise<DebianServer> {
    writeFileSync(this.path('password'), this.password, { mode: 0o600 });
    this.own(this.path('password'));
    const server = new DebianServer(this, 'data', await freePort());
    const access = ['--username=postgres', `--pwfile=${this.path('password')}`, '--auth=scram-sha-256'];
    await this.run('initdb', ['-D', server.data, ...access, '--encoding=UTF8', '--locale=C', '--no-sync']);
    await server.configure([
      `unix_socket_directories = '${this.folder}'`,
      'fsync = off',
      'wal_keep_size = 256MB',
      ...settings,
    ]);
    await server.start();
    return server;
  }

  /** Runs a program of PostgreSQL as the server's user. Rejects with the program's output if it fails. */
  run(program: string, args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return this.started(program, args, env);
  }

  /** Runs a shell command as the server's user. */
  shell(text: string, env: Readonly<Record<string, string>> = {}): Promise<Ran> {
    return this.started('/bin/bash', ['-euo', 'pipefail', '-c', text], env);
  }

  /** Makes a folder the servers can write to, and returns its path. */
  folderFor(name: string): string {
    const path = this.path(name);
    mkdirSync(path, { recursive: true });
    this.own(path);
    return path;
  }

  path(name: string): string {
    return join(this.folder, name);
  }

  /** Ends every server and removes the folder. */
  async close(): Promise<void> {
    const gone = new Promise((resolve) => this.watcher.once('exit', resolve));
    this.watcher.ref();
    this.watcher.stdin.end();
    await gone;
  }

  private async started(program: string, args: readonly string[], env: Readonly<Record<string, string>>): Promise<Ran> {
    const options = { ...this.runAs, cwd: this.folder, env: { ...this.env, ...env }, maxBuffer: 10_000_000 };
    const path = program.includes('/') ? program : join(BIN, program);
    const { stdout, stderr } = await run(path, args, options);
    return { out: stdout, err: stderr };
  }

  private own(path: string): void {
    if (this.runAs !== null) chownSync(path, this.runAs.uid, this.runAs.gid);
  }
}

export class DebianServer {
  readonly data: string;

  constructor(
    private readonly servers: DebianServers,
    name: string,
    readonly port: number,
  ) {
    this.data = servers.path(name);
  }

  /** Returns the URL of a database, by default for the superuser. It contains a password. */
  url(database: string, user = 'postgres'): string {
    return `postgresql://${user}:${this.servers.password}@127.0.0.1:${this.port}/${database}`;
  }

  /** Adds these lines and the server's port to postgresql.conf. They take effect with the next start. */
  async configure(lines: readonly string[]): Promise<void> {
    appendFileSync(join(this.data, 'postgresql.conf'), [...lines, `port = ${this.port}`, ''].join('\n'));
  }

  async start(): Promise<void> {
    // The server's output goes to a file: a pipe would stay open as long as the server runs.
    await this.servers.run('pg_ctl', ['start', '-D', this.data, '--wait', '--silent', '--log', `${this.data}.log`]);
  }

  async stop(mode: 'fast' | 'immediate' = 'fast'): Promise<void> {
    await this.servers.run('pg_ctl', ['stop', '-D', this.data, '-m', mode, '--silent']);
  }

  async promote(): Promise<void> {
    await this.servers.run('pg_ctl', ['promote', '-D', this.data, '--wait', '--silent']);
  }

  /** Runs a query. Returns the rows as text, one row a line. */
  async ask(sql: string, database = 'postgres'): Promise<string> {
    return (
      await this.servers.run('psql', ['-XAtq', '-v', 'ON_ERROR_STOP=1', '-c', sql, this.url(database)])
    ).out.trim();
  }

  /** Makes a database and a role with the same name, its owner. */
  async makeDatabase(name: string): Promise<void> {
    await this.ask(`create role ${name} login password '${this.servers.password}'`);
    await this.ask(`create database ${name} owner ${name} encoding 'UTF8' template template0`);
  }
}

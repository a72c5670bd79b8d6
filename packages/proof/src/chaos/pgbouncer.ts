// PgBouncer in session mode between the daemons and PostgreSQL, if this machine has PgBouncer.
import { type ChildProcess, spawn } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { freePort } from '@crossbill/embedded-postgres';

const PLACES = ['/usr/sbin/pgbouncer', '/usr/bin/pgbouncer', '/usr/local/bin/pgbouncer'];
const START_WITHIN_MS = 30_000;

export class PgBouncer {
  private child: ChildProcess | null = null;

  private constructor(
    private readonly program: string,
    private readonly file: string,
    private readonly port: number,
    private readonly databaseUrl: string,
  ) {}

  /**
   * Throws if this machine has no PgBouncer. `folder` must be open to every user, since root runs PgBouncer as another
   * user.
   */
  static async start(databaseUrl: string, folder: string): Promise<PgBouncer> {
    const program = PLACES.find((place) => existsSync(place));
    if (program === undefined) throw new Error('there is no pgbouncer here: apt install pgbouncer');
    const { hostname, port: of, username, password } = new URL(databaseUrl);
    const port = await freePort();
    mkdirSync(folder, { recursive: true });
    const file = join(folder, 'pgbouncer.ini');
    const to = `host=${hostname} port=${of} user=${username} password=${decodeURIComponent(password)}`;
    const lines = [
      ...['[databases]', `* = ${to}`, '[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`],
      ...['unix_socket_dir =', 'auth_type = any', 'pool_mode = session', 'default_pool_size = 60'],
    ];
    writeFileSync(file, `${lines.join('\n')}\n`);
    for (const path of [folder, file]) chmodSync(path, 0o755);
    const pooler = new PgBouncer(program, file, port, databaseUrl);
    await pooler.launch();
    return pooler;
  }

  /** The URL of the same database through PgBouncer. */
  get url(): string {
    const url = new URL(this.databaseUrl);
    url.port = String(this.port);
    return url.toString();
  }

  async launch(): Promise<void> {
    const asNobody = process.getuid?.() === 0 ? ['-u', 'nobody'] : []; // PgBouncer refuses to run as root
    this.child = spawn(this.program, ['-q', ...asNobody, this.file], { stdio: 'ignore', cwd: '/', detached: true });
    this.child.on('error', () => undefined);
    const deadline = performance.now() + START_WITHIN_MS;
    while (!(await listens(this.port))) {
      if (performance.now() > deadline) throw new Error('pgbouncer does not start');
      await sleep(50);
    }
  }

  async kill(): Promise<void> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return;
    const ended = new Promise((resolve) => child.once('exit', resolve));
    child.kill('SIGKILL');
    await ended;
  }
}

function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('error', () => resolve(false));
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
  });
}

// The built daemon as a separate process that a test can kill.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { alone } from '../../support/rigs/database.js';

const ROOT = join(import.meta.dirname, '../../..');
const PROGRAM = join(ROOT, 'dist/main.js');
/** The flags for Node in `npm start`. */
const FLAGS =
  /"start": "node (.+) dist\/main\.js"/.exec(readFileSync(join(ROOT, 'package.json'), 'utf8'))?.[1]?.split(' ') ?? [];
/** How long a daemon may take to be ready. Only a hanging daemon takes this long, and the error then shows its log. */
const READY_MS = 100_000;

/** Builds `dist/` if a source has changed. Builds once even if two test files ask at the same time. */
export function ensureBuilt(): Promise<void> {
  return alone(
    'build dist',
    () => void execFileSync('npm', ['run', '--silent', 'build'], { cwd: ROOT, stdio: 'pipe' }),
  );
}

/**
 * Returns a port, so a daemon keeps its address after a kill. The port is below the range of the operating systems
 * (Linux: from 32768): otherwise an outgoing connection could take it while the daemon is down.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 10_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

export class DaemonProcess {
  readonly lines: string[] = [];
  private child: ChildProcess | null = null;

  constructor(
    readonly url: string,
    private readonly env: Record<string, string>,
    /** Flags for Node in addition to those of `npm start`. */
    private readonly flags: readonly string[] = [],
    /** A file descriptor for the output. Left out: the output is in `lines`. */
    private readonly stdout: number | 'pipe' = 'pipe',
  ) {}

  /** A daemon with these settings on a free port, not started. */
  static async on(env: Record<string, string>, flags: readonly string[] = [], stdout: number | 'pipe' = 'pipe') {
    const port = String(await freePort());
    return new DaemonProcess(`http://127.0.0.1:${port}`, { ...env, PORT: port }, flags, stdout);
  }

  /** The id of the running process. */
  get pid(): number {
    const pid = this.child?.pid;
    if (pid === undefined) throw new Error('the daemon does not run');
    return pid;
  }

  /** Resolves when the daemon is ready. */
  async start(): Promise<void> {
    const child = spawn(process.execPath, [...FLAGS, ...this.flags, PROGRAM], {
      env: { PATH: process.env['PATH'], ...this.env },
      stdio: ['ignore', this.stdout, 'pipe'],
      cwd: tmpdir(), // a developer may keep an .env in the checkout
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => this.lines.push(text));
    }
    this.child = child;
    const end = Date.now() + READY_MS;
    for (;;) {
      const status = await fetch(`${this.url}/readyz`).then(
        (r) => r.status,
        () => 0,
      );
      if (status === 200) return;
      if (child.exitCode !== null || child.signalCode !== null || Date.now() > end)
        throw new Error(`the daemon is not ready: ${this.lines.join('').slice(-2_000)}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  /** Sends this signal and waits for the end of the process. Returns the exit code, or null if the signal ended it. */
  async end(signal: 'SIGKILL' | 'SIGTERM'): Promise<number | null> {
    const { child } = this;
    if (child === null || child.exitCode !== null || child.signalCode !== null) return child?.exitCode ?? null;
    const ended = new Promise<number | null>((resolve) => child.once('exit', (code) => resolve(code)));
    child.kill(signal);
    const code = await ended;
    this.child = null;
    return code;
  }
}

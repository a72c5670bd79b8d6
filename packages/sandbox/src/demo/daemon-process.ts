// The daemon as a separate process. If it dies, the demo starts it again, and its stored state must be enough to
// continue.
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtFile } from './programs.js';

export type DaemonOptions = {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** The working directory: a folder without anybody's `.env`. */
  readonly folder: string;
  /** The daemon's output is appended to this file. */
  readonly logFile: string;
  /** Called after each unexpected end, before the restart. `how`: the signal or the exit code. */
  readonly onDeath: (how: string) => void;
};

const WATCHER = new URL('./end-with-parent.js', import.meta.url).href;
/** A long limit for busy machines. If the process ends early, the demo notices at once. */
const READY_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 20_000; // after SIGTERM the daemon ends within 20 s
const POLL_MS = 50;
/** After this many exits in a row without a signal, the demo stops restarting the daemon. */
const HOPELESS_TIMES = 3;

export class DaemonProcess {
  deaths = 0;
  private child: ChildProcess | null = null;
  private stopping = false;
  private wasReady = false;
  private vainStarts = 0;
  private broken: string | null = null;

  constructor(private readonly options: DaemonOptions) {}

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  /** Resolves when the daemon is ready. Rejects if it does not become ready in time. */
  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  async isReady(): Promise<boolean> {
    try {
      const reply = await fetch(`${this.options.url}/readyz`, { signal: AbortSignal.timeout(2_000) });
      await reply.arrayBuffer();
      return reply.status === 200;
    } catch {
      return false;
    }
  }

  async ready(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await this.isReady())) {
      if (this.broken !== null) throw new Error(`${this.broken}; see ${this.options.logFile}`);
      if (performance.now() > deadline) throw new Error(`the daemon is not ready; see ${this.options.logFile}`);
      await sleep(POLL_MS);
    }
    this.wasReady = true;
  }

  /** Stops the daemon with SIGTERM and waits. Kills it after twenty seconds. */
  async stop(): Promise<void> {
    this.stopping = true;
    const { child } = this;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(insist);
  }

  kill(): void {
    this.stopping = true;
    this.child?.kill('SIGKILL');
  }

  private launch(): void {
    const log = openSync(this.options.logFile, 'a');
    // The daemon gets its own process group, so Ctrl-C does not reach it directly. The demo stops it before the
    // sandbox.
    const child = spawn(process.execPath, ['--import', WATCHER, builtFile('main.js')], {
      env: { ...this.options.env },
      cwd: this.options.folder,
      stdio: ['pipe', log, log], // the pipe closes when the demo ends
      detached: true,
    });
    closeSync(log);
    this.child = child;
    child.on('error', (error) => (this.broken = `the daemon cannot be started: ${error.message}`));
    child.once('exit', (code, signal) => {
      this.child = null;
      if (!this.stopping) this.restart(signal, code);
    });
  }

  private restart(signal: string | null, code: number | null): void {
    const how = signal ?? `exit code ${code ?? 'unknown'}`;
    this.vainStarts = signal === null ? this.vainStarts + 1 : 0;
    if (signal === null && (!this.wasReady || this.vainStarts >= HOPELESS_TIMES)) {
      this.broken = `the daemon does not start (${how})`;
      return;
    }
    this.deaths += 1;
    this.options.onDeath(how);
    this.launch();
  }
}

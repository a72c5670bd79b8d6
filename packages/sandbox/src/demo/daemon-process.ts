// The daemon as a process of its own, started again when it dies: what was stored before must carry it on.
import { type ChildProcess, spawn } from 'node:child_process';
import { openSync, closeSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { builtFile } from './programs.js';

export type DaemonOptions = {
  readonly url: string;
  readonly env: Readonly<Record<string, string>>;
  /** Where it works: a folder without an `.env` of somebody's own. */
  readonly folder: string;
  /** What it says goes to this file; a run appends. */
  readonly logFile: string;
  /** Hears of an unasked end, and that it was started again. */
  readonly onDeath: (how: string) => void;
};

const WATCHER = new URL('./end-with-parent.js', import.meta.url).href;
/** Long, for busy machines: one that ends by itself is reported at once. */
const READY_WITHIN_MS = 180_000;
const STOP_WITHIN_MS = 20_000; // SIGTERM ends within 20 s
const LOOK_AGAIN_MS = 50;
/** A daemon that ends by itself this often is not mended by being started again. */
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

  /** Resolves when it is ready. Rejects when it does not become so. */
  async start(): Promise<void> {
    this.launch();
    await this.ready();
  }

  /** True when it answers that it is ready. */
  async isReady(): Promise<boolean> {
    try {
      const answer = await fetch(`${this.options.url}/readyz`, { signal: AbortSignal.timeout(2_000) });
      await answer.arrayBuffer();
      return answer.status === 200;
    } catch {
      return false;
    }
  }

  async ready(): Promise<void> {
    const deadline = performance.now() + READY_WITHIN_MS;
    while (!(await this.isReady())) {
      if (this.broken !== null) throw new Error(`${this.broken}; see ${this.options.logFile}`);
      if (performance.now() > deadline) throw new Error(`the daemon is not ready; see ${this.options.logFile}`);
      await sleep(LOOK_AGAIN_MS);
    }
    this.wasReady = true;
  }

  /** Asks it to end and waits; insists after twenty seconds. */
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

  /** Ends it without asking. For the way out in a hurry. */
  kill(): void {
    this.stopping = true;
    this.child?.kill('SIGKILL');
  }

  private launch(): void {
    const log = openSync(this.options.logFile, 'a');
    // A group of its own: the terminal's Ctrl-C is ours to pass on, when its peers are still there to be told.
    const child = spawn(process.execPath, ['--import', WATCHER, builtFile('main.js')], {
      env: { ...this.options.env },
      cwd: this.options.folder,
      stdio: ['pipe', log, log], // the pipe closes when we end
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

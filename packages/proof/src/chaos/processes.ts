// Runs the daemons and the sandbox as processes: kills, freezes, stops and restarts them.
import { type ChildProcess, spawn } from 'node:child_process';
import { closeSync, fchownSync, openSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { setTimeout as sleep } from 'node:timers/promises';
import { SERVER_ENV } from '@crossbill/embedded-postgres';
import { type RunAs } from '@crossbill/embedded-postgres';

const WATCHER = import.meta.resolve('@crossbill/sandbox/demo/end-with-parent.js');
const STOP_WITHIN_MS = 30_000; // the time docs/operating.md asks for before a kill
const RESTART_AFTER_MS = 500;
const READY_WITHIN_MS = 300_000; // long, since a machine may be busy

export type ProgramOptions = {
  /** Such as `daemon 1`. */
  readonly name: string;
  /** The program below `dist/`, as a URL relative to this file. */
  readonly program: string;
  readonly args?: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** The working folder. It has no `.env`. */
  readonly folder: string;
  readonly logFile: string;
  /** Receives the program's standard output. The log file then gets only its standard error. */
  readonly hear?: (text: string) => void;
};

export class Program {
  /** How often the program ended without a request to stop. */
  deaths = 0;
  private child: ChildProcess | null = null;
  private wanted = false;
  private frozen = false;
  private startAt = 0;

  constructor(private readonly options: ProgramOptions) {}

  get name(): string {
    return this.options.name;
  }

  get pid(): number | null {
    return this.child?.pid ?? null;
  }

  start(): void {
    this.wanted = true;
    this.launch();
  }

  /** Sends this signal to the program now. The program starts again `backAfterMs` later. */
  strike(signal: 'SIGKILL' | 'SIGTERM', backAfterMs: number): void {
    this.startAt = performance.now() + backAfterMs;
    this.child?.kill(signal);
    if (this.frozen && signal === 'SIGTERM') this.child?.kill('SIGCONT');
  }

  freeze(): void {
    this.frozen = this.child?.kill('SIGSTOP') === true;
  }

  thaw(): void {
    this.frozen = false;
    this.child?.kill('SIGCONT');
  }

  /** Asks the program to stop for good, and waits. Kills it after thirty seconds. */
  async stop(): Promise<void> {
    this.wanted = false;
    const { child } = this;
    if (child === null) return;
    const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
    this.thaw();
    child.kill('SIGTERM');
    const insist = setTimeout(() => child.kill('SIGKILL'), STOP_WITHIN_MS);
    await ended;
    clearTimeout(insist);
  }

  /** Kills the program at once, for an exit in a hurry. */
  kill(): void {
    this.wanted = false;
    this.child?.kill('SIGKILL');
  }

  private launch(): void {
    const { program, args = [], env, folder, logFile, hear } = this.options;
    const log = openSync(logFile, 'a');
    const path = fileURLToPath(new URL(program, import.meta.url));
    const child = spawn(process.execPath, ['--import', WATCHER, path, ...args], {
      env: { ...env },
      cwd: folder,
      // The program ends itself when its stdin closes, so it never outlives this process.
      stdio: ['pipe', hear === undefined ? log : 'pipe', log],
      detached: true, // Ctrl-C reaches only this process, and this process passes it on
    });
    closeSync(log);
    child.stdout?.setEncoding('utf8').on('data', (text: string) => hear?.(text));
    child.on('error', () => undefined);
    child.once('exit', () => {
      this.child = null;
      this.frozen = false;
      if (!this.wanted) return;
      this.deaths += 1;
      const wait = Math.max(RESTART_AFTER_MS, this.startAt - performance.now());
      setTimeout(() => this.wanted && this.child === null && this.launch(), wait).unref();
    });
    this.child = child;
  }
}

/** Runs a server such as PostgreSQL as this user. Appends the server's output to the log file. */
export function spawnServer(
  program: string,
  args: readonly string[],
  { runAs, cwd, logFile }: { readonly runAs: RunAs; readonly cwd: string; readonly logFile: string },
): ChildProcess {
  const log = openSync(logFile, 'a');
  if (runAs !== null) fchownSync(log, runAs.uid, runAs.gid);
  const child = spawn(program, [...args], {
    ...runAs,
    cwd,
    env: SERVER_ENV,
    detached: true, // Ctrl-C does not reach the server
    stdio: ['ignore', log, log],
  });
  child.on('error', () => undefined);
  closeSync(log);
  return child;
}

/** Resolves when this daemon reports that it is ready. Throws after five minutes. */
export async function untilReady(url: string, name: string): Promise<void> {
  const deadline = performance.now() + READY_WITHIN_MS;
  while (!(await isReady(url))) {
    if (performance.now() > deadline) throw new Error(`${name} is not ready`);
    await sleep(100);
  }
}

export async function isReady(url: string): Promise<boolean> {
  try {
    const reply = await fetch(`${url}/readyz`, { signal: AbortSignal.timeout(5_000) });
    await reply.arrayBuffer();
    return reply.status === 200;
  } catch {
    return false;
  }
}

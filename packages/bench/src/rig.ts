// The means of a measurement: its own database, its own processes, and a place for its results.
import { type ChildProcess } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** The flags of Node with which production starts the daemon, from the command of `npm start`. */
export function daemonFlags(): readonly string[] {
  const manifest = readFileSync(new URL('../../package.json', import.meta.url), 'utf8');
  const start = /"start": "([^"]+)"/.exec(manifest)?.[1] ?? '';
  return start.split(' ').filter((word) => word.startsWith('--'));
}

export type Rig = {
  /** The size of a measurement: 1 is full size, 0.1 a tenth. */
  readonly scale: number;
  /** The folder of `--data`: filled databases stay there for another run. Null: the run deletes them at its end. */
  readonly dataDir: string | null;
  /** The id of PostgreSQL's first process. */
  readonly postgresPid: () => number;
  readonly fresh: <T>(work: (url: string) => Promise<T>) => Promise<T>;
  readonly start: (file: string, ...args: string[]) => Promise<{ child: ChildProcess; port: number }>;
  readonly table: (title: string, rows: readonly Record<string, string | number>[]) => void;
  readonly found: Record<string, unknown>;
};

/** Starts the bench's Stripe as a separate process for one measurement. */
export async function withPeer<T>(
  rig: Pick<Rig, 'start'>,
  options: { readonly delayMs: number; readonly listed?: number; readonly events?: number },
  work: (peerUrl: string) => Promise<T>,
): Promise<T> {
  const { child, port } = await rig.start(
    './stripe-peer.js',
    ...[options.delayMs, options.listed ?? 0, options.events ?? 0].map(String),
  );
  try {
    return await work(`http://127.0.0.1:${port}`);
  } finally {
    child.kill('SIGKILL');
  }
}

/** Waits until the condition is true. */
export async function until(isSo: () => Promise<boolean>, everyMs = 100): Promise<void> {
  while (!(await isSo())) await pause(everyMs);
}

/** Memory of a process in MB, as the system counts it: now, and the most so far. 0: the system does not show it. */
export async function memoryOf(pid: number | undefined): Promise<{ now: number; most: number }> {
  const text = await readFile(`/proc/${pid ?? 'self'}/status`, 'utf8').catch(() => '');
  const kb = (name: string): number => Number(new RegExp(`${name}:\\s+(\\d+)`).exec(text)?.[1] ?? 0);
  return { now: Math.round(kb('VmRSS') / 1024), most: Math.round(kb('VmHWM') / 1024) };
}

/** A port, free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const address = server.address();
      server.close(() => resolve(typeof address === 'object' && address !== null ? address.port : 0));
    });
  });
}

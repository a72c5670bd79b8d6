// A separate process owning an embedded server: a test can kill it or run it as another user.
import { transformFileSync } from '@swc/core';
import { type ChildProcess, spawn } from 'node:child_process';
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';

const PROGRAM = `
import { startEmbeddedPostgres } from './postgres/index.js';
const log = { info: () => undefined, warn: () => undefined };
try {
  const server = await startEmbeddedPostgres({ dataDir: process.argv[2], log, settings: { fsync: 'off' } });
  const { url, port, pid, adopted } = server;
  console.log(JSON.stringify({ url, port, pid, adopted }));
  process.stdin.once('data', async () => { await server.stop(); process.exit(0); });
} catch (error) {
  console.log(JSON.stringify({ code: error.code, message: error.message }));
}
`;

export type OwnerReply = {
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly adopted: boolean;
  readonly code?: string;
  readonly message?: string;
};

export type Owner = {
  readonly process: ChildProcess;
  readonly reply: OwnerReply;
  /** Asks it to stop as a daemon does on SIGTERM, and waits until it has ended. */
  stop(): Promise<void>;
  /** As the kernel or an impatient person does: it can do nothing about it. */
  kill(): Promise<void>;
  /** The process to end the server after its owners. Held still, it waits as long as a busy machine needs. */
  readonly watchdog: { hold(): void; letGo(): void; hasEnded(): boolean };
};

/** A new folder open to everybody; `remove` also ends processes left there by a failed test. */
export function workFolder(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'crossbill-owner-'));
  chmodSync(path, 0o711);
  return {
    path,
    remove: () => {
      for (const name of readdirSync(path, { recursive: true, encoding: 'utf8' })) {
        if (name.endsWith('postmaster.pid')) endServer(Number(readFileSync(join(path, name), 'utf8').split('\n')[0]));
      }
      rmSync(path, { recursive: true, force: true });
    },
  };
}

function endServer(pid: number): void {
  if (isRunning(pid)) process.kill(pid, 'SIGKILL');
}

/** The program, compiled into `folder`; returns its path. */
export function buildOwnerProgram(folder: string): string {
  const root = join(import.meta.dirname, '../../..');
  const source = join(import.meta.dirname, '../src');
  const target = join(folder, 'program');
  mkdirSync(join(target, 'postgres'), { recursive: true });
  for (const name of readdirSync(source)) {
    const { code } = transformFileSync(join(source, name), {
      jsc: { target: 'es2022', parser: { syntax: 'typescript' } },
      module: { type: 'es6' },
      swcrc: false,
    });
    writeFileSync(join(target, 'postgres', name.replace(/\.ts$/, '.js')), code);
  }
  writeFileSync(join(target, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(target, 'owner.js'), PROGRAM);
  symlinkSync(join(root, 'node_modules'), join(target, 'node_modules'));
  return join(target, 'owner.js');
}

/** Starts the program and waits for its answer. */
export async function startOwner(
  program: string,
  dataDir: string,
  user: { readonly uid?: number; readonly gid?: number } = {},
): Promise<Owner> {
  const child = spawn(process.execPath, [program, dataDir], {
    ...user,
    cwd: '/',
    detached: true, // a process group of its own, as a shell gives it
    stdio: ['pipe', 'pipe', 'inherit'],
    env: { PATH: process.env.PATH },
  });
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const line = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stdout }).once('line', resolve);
    child.once('exit', () => reject(new Error('the owner ended without an answer')));
  });
  const watchdog = watchdogOf(child.pid ?? 0);
  return {
    process: child,
    watchdog: {
      hold: () => void process.kill(known(watchdog), 'SIGSTOP'),
      letGo: () => void process.kill(known(watchdog), 'SIGCONT'),
      hasEnded: () => !/\) [^ZX]/.test(stateOf(known(watchdog))),
    },
    reply: JSON.parse(line) as OwnerReply,
    stop: async () => {
      child.stdin.write('stop\n');
      await ended;
    },
    kill: async () => {
      child.kill('SIGKILL');
      await ended;
    },
  };
}

/** Whether the process lives and is a PostgreSQL; an unreaped dead one does not. */
export function isRunning(pid: number): boolean {
  return /^\d+ \(postgres\) [^ZX]/.test(stateOf(pid));
}

/** The kernel's state of a process; empty: there is none. */
function stateOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8');
  } catch {
    return '';
  }
}

/** The shell next to an owner; null: it has none, as when it did not start. */
function watchdogOf(owner: number): number | null {
  const children = (): number[] => {
    try {
      return readFileSync(`/proc/${owner}/task/${owner}/children`, 'utf8').trim().split(' ').map(Number);
    } catch {
      return []; // it has ended already
    }
  };
  return children().find((pid) => / \((sh|dash|bash)\) /.test(stateOf(pid))) ?? null;
}

function known(pid: number | null): number {
  if (pid === null) throw new Error('this owner has no watchdog');
  return pid;
}

/** Waits for a fact of the operating system: no test can own its clock. */
export async function until(fact: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await fact())) await sleep(20);
}

/** One query on a connection of its own. */
export async function query(url: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return (await client.query<Record<string, unknown>>(sql)).rows;
  } finally {
    await client.end();
  }
}

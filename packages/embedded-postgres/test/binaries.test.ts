// The binaries of PostgreSQL, wherever npm put them and whatever it left undone.
import { afterAll, expect, it } from '@jest/globals';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { locateNative, prepareBinaries } from '../src/binaries.js';
import { chooseRunAs, parsePasswd } from '../src/run-as.js';

const isRoot = process.getuid?.() === 0;
const itAsRoot = isRoot ? it : it.skip;

const folder = mkdtempSync(join(tmpdir(), 'crossbill-binaries-'));
chmodSync(folder, 0o711);
const runAs = chooseRunAs(join(folder, 'none'));
const cache = join(folder, 'cache');
mkdirSync(cache);
chmodSync(cache, 0o711);

/** The package as npm unpacks it when it runs no scripts: no links, and here also not executable. */
function unpacked(parent: string): string {
  const native = join(parent, 'package/native');
  mkdirSync(join(parent, 'package'), { recursive: true });
  writeFileSync(join(parent, 'package/package.json'), '{ "version": "0.0.0-test" }');
  spawnSync('cp', ['-a', locateNative(), native]);
  spawnSync('find', [native, '-type', 'l', '-delete']);
  chmodSync(join(native, 'bin/postgres'), 0o644);
  return native;
}

afterAll(() => rmSync(folder, { recursive: true, force: true }));

it('the embedded PostgreSQL adds missing library links to its npm folder if the folder is writable', () => {
  const native = unpacked(join(folder, 'open'));
  expect(prepareBinaries(native, runAs, [cache]).postgres).toBe(join(native, 'bin/postgres'));
  expect(existsSync(join(native, 'lib/libpq.so.5'))).toBe(true);
});

itAsRoot('the embedded PostgreSQL copies its binaries for a user without access, and copies lost ones again', () => {
  const locked = join(folder, 'locked');
  mkdirSync(locked, { mode: 0o700 });
  const native = unpacked(locked);
  const first = prepareBinaries(native, runAs, [cache]);
  expect(first.postgres.startsWith(`${cache}/crossbill-postgres-0.0.0-test-0/`)).toBe(true);
  const sample = join(first.postgres, '../../share/postgresql/postgres.bki');
  const content = readFileSync(sample);
  rmSync(sample);
  expect(prepareBinaries(native, runAs, [cache])).toEqual(first);
  expect(readFileSync(sample).equals(content)).toBe(true);
  chmodSync(join(cache, 'crossbill-postgres-0.0.0-test-0'), 0o777); // anybody could have changed its content
  expect(() => prepareBinaries(native, runAs, [cache])).toThrow('is not ours');
});

it.each([
  ['a system with too old a C library', '#!/bin/sh\necho "libc.so.6: version GLIBC_2.27\' not found" >&2; exit 1\n'],
  ['a system without glibc', '#!/nonexistent/ld-linux.so\n'],
])('the embedded PostgreSQL names DATABASE_URL as the remedy on %s', (name, program) => {
  const native = join(folder, name, 'native');
  mkdirSync(join(native, 'bin'), { recursive: true });
  writeFileSync(join(native, 'bin/postgres'), program, { mode: 0o755 });
  expect(() => prepareBinaries(native, runAs, [])).toThrow(/musl.*DATABASE_URL/);
});

it('the embedded PostgreSQL runs as an existing user of the host, never as root', () => {
  const users = parsePasswd('# a comment\nroot:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65533::/:/bin/false\nbroken\n');
  expect(users).toEqual([
    { name: 'root', uid: 0, gid: 0 },
    { name: 'nobody', uid: 65534, gid: 65533 },
  ]);
  if (isRoot) expect(runAs?.uid).toBeGreaterThan(0);
  else expect(runAs).toBeNull();
});

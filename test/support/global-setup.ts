// Before all tests: one PostgreSQL for the run, embedded or the one in TEST_DATABASE_URL.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  type EmbeddedPostgres,
  type startEmbeddedPostgres as Start,
} from '../../packages/embedded-postgres/src/index.js';

/** Where the workers find the server: see `database.ts`. */
const ADMIN_URL = 'CROSSBILL_TEST_ADMIN_URL';
const PREFIX = 'crossbill-test-';

/** The objects for `global-teardown.ts` to end; both run in the same process and share nothing else. */
export type TestServer = { readonly postgres: EmbeddedPostgres; readonly folder: string };

declare global {
  var crossbillTestServer: TestServer | undefined;
}

export default async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) {
    process.env[ADMIN_URL] = process.env.TEST_DATABASE_URL;
    return;
  }
  removeLeftOvers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const { startEmbeddedPostgres } = await importSource();
  const quiet = { info: () => undefined, warn: (message: string) => console.warn(message) };
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: quiet, settings });
  globalThis.crossbillTestServer = { postgres, folder };
  process.env[ADMIN_URL] = postgres.adminUrl;
}

/**
 * Jest compiles this file to a CommonJS module and, outside of tests, does not apply its mapping from `./x.js` to
 * `./x.ts`. This tells Node's own resolver, for files missing under their own name.
 */
async function importSource(): Promise<{ readonly startEmbeddedPostgres: typeof Start }> {
  const resolver = createRequire(__filename)('node:module') as {
    _resolveFilename: (request: string, ...rest: unknown[]) => string;
  };
  const original = resolver._resolveFilename;
  resolver._resolveFilename = function (request, ...rest) {
    try {
      return original.call(this, request, ...rest);
    } catch (error) {
      if (!/^\.{1,2}\/.*\.js$/.test(request)) throw error;
      return original.call(this, request.replace(/\.js$/, '.ts'), ...rest);
    }
  };
  try {
    return await import('../../packages/embedded-postgres/src/index.js');
  } finally {
    resolver._resolveFilename = original;
  }
}

/** Folders of killed runs; their servers have ended alone. */
function removeLeftOvers(): void {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

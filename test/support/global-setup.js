// Runs before all tests: starts one PostgreSQL for the run, or uses the server in TEST_DATABASE_URL.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import './runtime/register.js';

/** The variable in which the workers find the server: see `rigs/database.ts`. */
const ADMIN_URL = 'CROSSBILL_TEST_ADMIN_URL';
const PREFIX = 'crossbill-test-';

export default async function globalSetup() {
  if (process.env.TEST_DATABASE_URL) {
    process.env[ADMIN_URL] = process.env.TEST_DATABASE_URL;
    return;
  }
  removeLeftOvers();
  const folder = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  const { startEmbeddedPostgres } = await import('../../packages/embedded-postgres/src/index.js');
  const quiet = { info: () => undefined, warn: (message) => console.warn(message) };
  const settings = { fsync: 'off', synchronous_commit: 'off', full_page_writes: 'off' };
  const postgres = await startEmbeddedPostgres({ dataDir: folder, log: quiet, settings });
  // `global-teardown.js` needs this. Both run in the same process and share nothing else.
  globalThis.crossbillTestServer = { postgres, folder };
  process.env[ADMIN_URL] = postgres.adminUrl;
}

/** Removes the folders of killed runs. Their servers have stopped already. */
function removeLeftOvers() {
  for (const name of readdirSync(tmpdir())) {
    const pid = new RegExp(`^${PREFIX}(\\d+)-`).exec(name)?.[1];
    if (pid !== undefined && !isAlive(Number(pid))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
}

function isAlive(pid) {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

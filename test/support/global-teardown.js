// After all tests, also failed ones: ends the run's PostgreSQL and removes its folder.
import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  const server = globalThis.crossbillTestServer;
  if (server === undefined) return; // TEST_DATABASE_URL
  await server.postgres.stop();
  rmSync(server.folder, { recursive: true, force: true });
}

// Runs after all tests, even failed ones: stops the run's PostgreSQL and removes its folder.
import { rmSync } from 'node:fs';

export default async function globalTeardown() {
  const server = globalThis.crossbillTestServer;
  if (server === undefined) return; // the run used TEST_DATABASE_URL
  await server.postgres.stop();
  rmSync(server.folder, { recursive: true, force: true });
}

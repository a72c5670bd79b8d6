// A migrated database with its pool for the tests of a file or a group: open before them, dropped after them.
import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { Database } from '../../../src/frames/store/database.js';
import { freshDatabase, type TestDatabase } from './database.js';

/** Takes the open database, and prepares it for the tests. */
type Use = (db: Database, url: string) => unknown;

function hooks(before: typeof beforeAll, after: typeof afterAll, use: Use, poolSize: number): void {
  let fresh: TestDatabase;
  let db: Database;
  before(async () => {
    fresh = await freshDatabase();
    db = await Database.open({ url: fresh.url, poolSize, onError: () => undefined });
    await use(db, fresh.url);
  });
  after(async () => {
    await db.close();
    await fresh.drop();
  });
}

/** One database for each test. */
export const databaseForEach = (use: Use, poolSize = 4): void => hooks(beforeEach, afterEach, use, poolSize);

/** One database for all tests. */
export const databaseForAll = (use: Use, poolSize = 4): void => hooks(beforeAll, afterAll, use, poolSize);

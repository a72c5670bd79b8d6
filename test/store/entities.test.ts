// The entities and the migrations say the same of every table that is read through TypeORM.
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import '../../src/app.module.js'; // every entity
import { Database } from '../../src/store/database.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

let fresh: TestDatabase;
let db: Database;
beforeEach(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
});
afterEach(async () => {
  await db.close();
  await fresh.drop();
});

/** What TypeORM would change of tables and columns. Keys, checks and indexes are the migrations' own: their names and kinds it cannot say. */
async function columnChanges(): Promise<readonly string[]> {
  const { upQueries } = await db.orm.driver.createSchemaBuilder().log();
  return upQueries
    .map(({ query }) => query)
    .filter((query) => !/ (ADD|DROP) CONSTRAINT |^(CREATE|DROP) (UNIQUE )?INDEX /.test(query));
}

describe('the entities', () => {
  it('say what the migration made', async () => {
    expect(db.orm.entityMetadatas.length).toBeGreaterThan(10);
    expect(await columnChanges()).toEqual([]);
  });

  it('are found out when a column is missing, has another type, or may be null', async () => {
    await db.pool.query('alter table review drop column note');
    await db.pool.query('alter table refund alter column counted type text using counted::text');
    await db.pool.query('alter table signup alter column path drop not null');
    const changes = (await columnChanges()).join('\n');
    for (const part of [
      '"review" ADD "note"',
      '"refund" ADD "counted" boolean',
      '"signup" ALTER COLUMN "path" SET NOT NULL',
    ])
      expect(changes).toContain(part);
  });
});

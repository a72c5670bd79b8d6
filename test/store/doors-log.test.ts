// When the doors were open, as the database keeps it: a row per stretch, silence is not taken for openness, the outage stays known.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Database } from '../../src/store/database.js';
import { PgDoorsLog } from '../../src/store/pg-doors-log.js';
import { lossWindows } from '../../src/verify/rules/loss-window.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';

const START = Date.parse('2026-11-20T00:00:00Z');
const MINUTE = 60_000;
const at = (minutes: number): Date => new Date(START + minutes * MINUTE);

let database: TestDatabase;
let db: Database;
let log: PgDoorsLog;
beforeAll(async () => {
  database = await freshDatabase();
  db = await Database.open({ url: database.url, poolSize: 2, onError: () => undefined });
  log = new PgDoorsLog(db);
});
afterAll(async () => {
  await db.close();
  await database.drop();
});

describe('the log of the doors', () => {
  it('is one row for as long as a process goes on telling, and a gap when it fell silent', async () => {
    await log.opened('open_a', at(0));
    for (let m = 1; m <= 5; m++) expect(await log.seen('open_a', at(m))).toBe(true);
    expect(await log.seen('open_a', at(3))).toBe(true); // a clock that was set back takes nothing away
    expect(await log.seen('open_a', at(20))).toBe(false); // a quarter of an hour without the database
    expect(await log.open()).toEqual([{ from: at(0), to: at(5) }]);
    expect(await log.seen('open_of_nobody', at(5))).toBe(false);
  });

  it('keeps the end of an outage that lasted for longer than rows are kept', async () => {
    const after = 60 * 24 * 60;
    await log.opened('open_b', at(after));
    expect(await log.open()).toEqual([
      { from: at(0), to: at(5) },
      { from: at(after), to: at(after) },
    ]);
    expect(lossWindows(await log.open())).toHaveLength(1);
    await log.seen('open_b', at(after + 1));
    await log.opened('open_c', at(after + 2));
    expect((await log.open()).map((s) => s.from)).toEqual([at(after), at(after + 2)]);
  });
});

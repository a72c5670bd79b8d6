// The open hours of the webhook endpoints, as the database keeps them: a row per stretch, silence does not count as
// open, the outage stays known.
import { expect, it } from '@jest/globals';
import { type Database } from '../../src/frames/store/database.js';
import { EndpointsLogRepository } from '../../src/features/verify/endpoints-log.repository.js';
import { lossWindows } from '../../src/features/verify/rules/loss-window.js';
import { databaseForAll } from '../support/rigs/use-database.js';

const START = Date.parse('2026-11-20T00:00:00Z');
const MINUTE = 60_000;
const at = (minutes: number): Date => new Date(START + minutes * MINUTE);

let db: Database;
let log: EndpointsLogRepository;
let now = new Date(START);
databaseForAll((opened) => {
  db = opened;
  log = new EndpointsLogRepository(db, { given: () => now });
}, 2);

const openedAt = (id: string, minutes: number): Promise<void> => ((now = at(minutes)), log.opened(id));
const seenAt = (id: string, minutes: number): Promise<boolean> => ((now = at(minutes)), log.seen(id));

it("the log of open webhook endpoints has one row for a running daemon, and ends the row at the daemon's last report", async () => {
  await openedAt('open_a', 0);
  for (let m = 1; m <= 5; m++) expect(await seenAt('open_a', m)).toBe(true);
  expect(await seenAt('open_a', 3)).toBe(true); // a clock set back takes nothing away
  expect(await seenAt('open_a', 20)).toBe(false); // a quarter of an hour without the database
  expect(await log.open()).toEqual([{ from: at(0), to: at(5) }]);
  expect(await seenAt('open_of_nobody', 5)).toBe(false);
});

it('the log of the times with open webhook endpoints deletes old rows, but keeps the end of the last outage', async () => {
  const after = 60 * 24 * 60;
  await openedAt('open_b', after);
  expect(await log.open()).toEqual([
    { from: at(0), to: at(5) },
    { from: at(after), to: at(after) },
  ]);
  expect(lossWindows(await log.open())).toHaveLength(1);
  await seenAt('open_b', after + 1);
  await openedAt('open_c', after + 2);
  expect((await log.open()).map((s) => s.from)).toEqual([at(after), at(after + 2)]);
});

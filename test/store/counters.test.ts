// A database copied by logical replication: all rows, and counters of ids that never counted.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { countersBehind, setForward } from '../../src/frames/store/counters.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { type Database } from '../../src/frames/store/database.js';
import { type Opening, opening, settingsFor } from '../support/rigs/any-server.js';
import { aPaymentSucceeded } from '../support/builders/events.js';
import { databaseForEach } from '../support/rigs/use-database.js';
import { cli } from '../cli/rig.js';

let db: Database;
let url: string;
let daemon: Opening | null;
databaseForEach((open, at) => {
  db = open;
  url = at;
});
beforeEach(async () => {
  daemon = null;
  for (const n of [1, 2, 3, 4, 5]) await deliver(n);
  // What a copy by logical replication leaves.
  const counters = await db.pool.query<{ name: string }>(
    `select format('%I', sequencename) as name from pg_sequences where schemaname = 'public'`,
  );
  for (const { name } of counters.rows) await db.pool.query(`alter sequence ${name} restart with 1`);
});
afterEach(async () => {
  await daemon?.stop();
});

const deliver = (count: number) =>
  new PgInbox(db, new ServerTime()).store([aPaymentSucceeded({ eventId: `evt_${count}` })]);

it('the start of the daemon sets counters of ids behind their rows forward, so the first delivery is stored', async () => {
  expect((await countersBehind(db.pool)).map((c) => c.table)).toContain('inbox_event');
  daemon = opening(url);
  await daemon.opened;
  expect(daemon.lines.join('')).toContain('database.counters_behind');
  expect(await countersBehind(db.pool)).toEqual([]);
  expect(await deliver(6)).toEqual(['stored']);
});

it('a running daemon refuses one delivery after its database was replaced by a copy, and stores the next', async () => {
  await expect(deliver(6)).rejects.toMatchObject({ code: '23505' });
  expect(await deliver(6)).toEqual(['stored']);
});

it('two replicas that set the counters forward at the same time never set one back', async () => {
  const behind = await countersBehind(db.pool);
  await setForward(db.pool, behind);
  await deliver(6);
  await setForward(db.pool, behind);
  expect(await deliver(7)).toEqual(['stored']);
});

it('`crossbill doctor` names the tables with counters behind their rows, and changes nothing', async () => {
  const ran = await cli(['doctor', '--json'], settingsFor(url));
  const { checks } = JSON.parse(ran.out) as { checks: { name: string; state: string; detail: string }[] };
  const found = checks.find((c) => c.name === 'counters of ids');
  expect(found).toMatchObject({ state: 'fail', detail: expect.stringContaining('inbox_event') });
  expect(await countersBehind(db.pool)).not.toEqual([]);
});

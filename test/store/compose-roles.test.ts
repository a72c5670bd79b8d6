// The roles of docker-compose.yml in a real PostgreSQL: the owner migrates, and the daemon only reads and writes rows.
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Database } from '../../src/frames/store/database.js';
import { ServerTime } from '../../src/frames/store/database-time.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import { migrate } from '../../src/frames/store/migrations.js';
import { asAdmin, opening, type Opening } from '../support/rigs/any-server.js';
import { aPaymentSucceeded } from '../support/builders/events.js';
import { emptyDatabase, type TestDatabase } from '../support/rigs/database.js';

const file = readFileSync(join(import.meta.dirname, '../../docker-compose.yml'), 'utf8');
const { configs } = parse(file) as { configs: { roles: { content: string } } };
const SCRIPT = /<<'SQL'\n([^]*)^SQL$/m.exec(configs.roles.content)?.[1] ?? '';

let database: TestDatabase;
let app: string;
let daemon: Opening;
beforeEach(async () => {
  database = await emptyDatabase();
  app = `crossbill_app_${randomBytes(6).toString('hex')}`;
  const name = new URL(database.url).pathname.slice(1);
  const sql = SCRIPT.replaceAll(/:'(owner|app)'/g, "'$1-password'")
    .replaceAll(/\bdatabase crossbill\b/g, `database ${name}`)
    .replaceAll(/\bcrossbill(_owner)?\b/g, `${app}$1`);
  await asAdmin(sql, database.url);
  await migrate(as(`${app}_owner`, 'owner-password'));
  daemon = opening(as(app, 'app-password'));
});
afterEach(async () => {
  await daemon.stop();
  await database.drop();
  await asAdmin(`drop role ${app}; drop role ${app}_owner`);
});

function as(user: string, password: string): string {
  const url = new URL(database.url);
  [url.username, url.password] = [user, password];
  return url.toString();
}

it("the daemon of the compose file works as a role that may change no table, and may not become the server's administrator", async () => {
  const { db } = await daemon.atOnce();
  const time = new ServerTime();
  expect(await new PgInbox(db, time).store([aPaymentSucceeded()])).toEqual(['stored']);
  await db.pool.query('select make_body_months(now(), 3)');
  await db.pool.query('insert into console_session values ($1, $1, $1, now(), now())', ['s']);
  await db.pool.query('delete from console_session');
  for (const sql of [
    'drop table payment',
    'alter table audit disable trigger all',
    'truncate console_session',
    'create table mine (id int)',
    `copy payment to '/tmp/payments'`,
    `create role ${app}_2`,
  ])
    await expect(db.pool.query(sql)).rejects.toMatchObject({ code: '42501' });
});

it('a database without migrations makes the daemon of the compose file wait for the owner', async () => {
  const db = await Database.open({ url: as(`${app}_owner`, 'owner-password'), poolSize: 2, onError: () => undefined });
  await db.pool.query('delete from schema_migration');
  await db.close();
  const waiting = opening(as(app, 'app-password'));
  await waiting.says('run `crossbill migrate` as the owner of the database');
  await waiting.stop();
});

// Connecting to a server as it is: its users, their settings, its encodings. One clear sentence for each fault.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type pg from 'pg';
import { versionCheck } from '../../src/frames/cli/doctor/database-checks.js';
import { connectAlone } from '../../src/frames/store/connect.js';
import { Database } from '../../src/frames/store/database.js';
import { migrate, schemaState } from '../../src/frames/store/migrations.js';
import { refuseUnfit } from '../../src/frames/store/server.js';
import { cli } from '../cli/rig.js';
import { asAdmin, newRole, opening, type Opening, type Role, settingsFor } from '../support/rigs/any-server.js';
import { emptyDatabase, type TestDatabase } from '../support/rigs/database.js';

let database: TestDatabase;
let role: Role;
let name: string;
let started: Opening[];
const folders: string[] = [];
beforeEach(async () => {
  database = await emptyDatabase();
  name = new URL(database.url).pathname.slice(1);
  role = await newRole();
  started = [];
});
afterEach(async () => {
  for (const s of started) await s.stop();
  await database.drop();
  await role.drop();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function start(url: string, options: Parameters<typeof opening>[1] = {}): Opening {
  const one = opening(url, options);
  started.push(one);
  return one;
}

function migrations(up: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-migrations-'));
  folders.push(folder);
  writeFileSync(join(folder, '9001-one.sql'), `-- up\n${up}\n-- down\nselect 1;\n`);
  return folder;
}

const tables = async (): Promise<number> =>
  Number(
    (await asAdmin<{ n: string }>(`select count(*) as n from pg_tables where schemaname = 'public'`, database.url))[0]
      ?.n,
  );

describe('the settings of a session', () => {
  const OTHERS = {
    jit: 'on',
    datestyle: `'SQL, DMY'`,
    intervalstyle: 'sql_standard',
    timezone: `'America/New_York'`,
    client_encoding: `'LATIN1'`,
    bytea_output: 'escape',
    extra_float_digits: '-3',
    standard_conforming_strings: 'off',
    default_transaction_isolation: 'serializable',
    default_transaction_deferrable: 'on',
    statement_timeout: `'123ms'`,
    lock_timeout: `'123ms'`,
    idle_in_transaction_session_timeout: `'123ms'`,
    idle_session_timeout: `'123s'`,
    synchronous_commit: 'off', // an event answered 200 would not be stored so far
  };
  const own = (statement: string): Record<keyof typeof OTHERS, string> => ({
    jit: 'off',
    datestyle: 'ISO, MDY',
    intervalstyle: 'postgres',
    timezone: 'UTC',
    client_encoding: 'UTF8',
    bytea_output: 'hex',
    extra_float_digits: '1',
    standard_conforming_strings: 'on',
    default_transaction_isolation: 'read committed',
    default_transaction_deferrable: 'off',
    statement_timeout: statement,
    lock_timeout: '0',
    idle_in_transaction_session_timeout: statement,
    idle_session_timeout: '0',
    synchronous_commit: 'on',
  });
  beforeEach(async () => {
    await asAdmin(`alter database ${name} owner to ${role.name}`);
    const changes = Object.entries(OTHERS).map(([key, value]) => `alter role ${role.name} set ${key} = ${value}`);
    await asAdmin(changes.join(';'));
  });

  const settingsOf = async (query: (sql: string) => Promise<Record<string, string>>): Promise<Record<string, string>> =>
    query(
      `select ${Object.keys(OTHERS)
        .map((key) => `current_setting('${key}') as ${key}`)
        .join(', ')}`,
    );

  it("Crossbill's session settings apply on every database connection, and win over the settings of the database role", async () => {
    const db = await Database.open({ url: role.as(database.url), poolSize: 4, onError: () => undefined });
    const first = async (pool: pg.Pool | pg.Client, sql: string): Promise<Record<string, string>> =>
      (await pool.query<Record<string, string>>(sql)).rows[0] ?? {};
    // All three at once: each has its own connection.
    const held = await Promise.all([1, 2, 3].map(() => db.pool.connect()));
    for (const client of held)
      expect(await settingsOf(async (sql) => (await client.query<Record<string, string>>(sql)).rows[0] ?? {})).toEqual(
        own('15s'),
      );
    for (const client of held) client.release();
    expect(await settingsOf((sql) => first(db.intake, sql))).toEqual(own('5s'));
    const alone = await connectAlone(role.as(database.url), { name: 'test', statementMs: 0 });
    expect(await settingsOf((sql) => first(alone, sql))).toEqual(own('0'));
    await alone.end();
    await db.close();
  });

  it('Crossbill reads times right although the database role writes dates day first in New York time', async () => {
    const db = await Database.open({ url: role.as(database.url), poolSize: 2, onError: () => undefined });
    const at = new Date('2026-03-04T05:06:07.089Z');
    for (const pool of [db.pool, db.intake]) {
      const { rows } = await pool.query<{ at: Date; bytes: Buffer; word: string }>(
        `select $1::timestamptz as at, '\\x00ff'::bytea as bytes, 'Zoë – 東京' as word`,
        [at],
      );
      expect(rows[0]).toEqual({ at, bytes: Buffer.from([0, 255]), word: 'Zoë – 東京' });
    }
    await db.close();
  });

  it('Crossbill sends no session setting as a start-up parameter, because poolers refuse them', async () => {
    const asked: string[][] = [];
    const server = createServer((socket) => {
      socket.once('data', (packet) => {
        const words = packet.subarray(8).toString().split('\0');
        asked.push(words.filter((_, i) => i % 2 === 0 && words[i] !== ''));
        socket.destroy();
      });
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `postgres://u:p@127.0.0.1:${(server.address() as AddressInfo).port}/db`;
    await expect(Database.open({ url, poolSize: 4, onError: () => undefined })).rejects.toThrow();
    await expect(migrate(url)).rejects.toThrow();
    await expect(connectAlone(url, { name: 'test', statementMs: 0 })).rejects.toThrow();
    await new Promise((resolve) => server.close(resolve));
    expect(asked).toHaveLength(3);
    for (const names of asked)
      expect(names.sort()).toEqual(['application_name', 'client_encoding', 'database', 'user']);
  });

  it("a migration may last longer than the database role's statement_timeout", async () => {
    const folder = migrations('create table one (id int); select pg_sleep(0.6);');
    expect(await migrate(role.as(database.url), { folder })).toHaveLength(1);
    expect(await tables()).toBe(2);
  });
});

it("the daemon's start ends with a clear error if the server cancels its migration", async () => {
  const { opened, lines } = start(database.url, {
    folder: migrations('create table one (id int); select pg_sleep(60);'),
  });
  const cancel = `select pg_cancel_backend(pid) from pg_stat_activity where datname = '${name}' and query like '%pg_sleep(60)%'
      and pid <> pg_backend_pid() and state = 'active'`;
  while ((await asAdmin(cancel)).length === 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await expect(opened).rejects.toMatchObject({
    code: 'store.migration_cancelled',
    message: expect.stringMatching(
      /^The database server cancelled the migration 9001-one.sql and undid it\. Ask the admin/,
    ),
  });
  expect(lines.join('')).not.toContain('does not answer');
  expect(await tables()).toBe(1); // the list of migrations
});

it('the daemon runs no migration if its database user may create tables only because every user (PUBLIC) may', async () => {
  await asAdmin('grant create on schema public to public', database.url);
  const { says, opened } = start(role.as(database.url));
  await says('run `crossbill migrate` as the owner of the database');
  expect(await tables()).toBe(0);
  await migrate(database.url);
  await asAdmin(`grant select, insert, update, delete on all tables in schema public to ${role.name}`, database.url);
  const found = await opened;
  expect((await schemaState(found.db.orm)).missing).toEqual([]);
  const owners = await asAdmin<{ o: string }>(
    `select distinct tableowner as o from pg_tables where schemaname = 'public'`,
    database.url,
  );
  expect(owners.map(({ o }) => o)).not.toContain(role.name);
});

it.each([
  ['owns the database', () => `alter database ${name} owner to ${role.name}; grant all on schema public to public`],
  ['has its own right to create', () => `grant create, usage on schema public to ${role.name}`],
])('the daemon runs the migrations as a user who %s', async (_, grant) => {
  await asAdmin(grant(), database.url);
  const { opened } = start(role.as(database.url));
  expect((await schemaState((await opened).db.orm)).missing).toEqual([]);
});

/** The message and the end of a start, `migrate` and the doctor; never the password. */
async function refused(url: string, code: string, sentence: RegExp): Promise<void> {
  const { atOnce, lines } = start(url);
  await expect(atOnce()).rejects.toMatchObject({ code, message: expect.stringMatching(sentence) });
  expect(lines).toEqual([]); // it did not wait
  const env = settingsFor(url);
  const command = await cli(['migrate'], env);
  expect(command).toMatchObject({ code: 1, out: '', err: expect.stringMatching(sentence) });
  expect(command.err.trim().split('\n')).toHaveLength(1);
  const doctor = await cli(['doctor'], env);
  expect(doctor.code).toBe(1);
  expect(doctor.out).toMatch(/FAIL {2}database /);
  expect(doctor.out.replace(/\n\s*-> /, '. ').replace(/FAIL {2}database +/, '\n')).toMatch(new RegExp(sentence, 'm'));
  for (const said of [command.err, doctor.out, doctor.err]) expect(said).not.toContain(new URL(url).password);
}

it("the daemon, `crossbill migrate` and `crossbill doctor` name a wrong database password, and the daemon's start does not wait", async () => {
  const wrong = new URL(role.as(database.url));
  wrong.password = 'hunter22hunter22';
  await refused(
    wrong.toString(),
    'store.login',
    /^The database refused the login: password authentication failed for user "crossbill_role_\w+"\. Put the right user and password into DATABASE_URL\.$/m,
  );
});

it('the daemon, `crossbill migrate` and `crossbill doctor` name a database missing on the server', async () => {
  const other = new URL(role.as(database.url));
  other.pathname = '/crossbil';
  await refused(
    other.toString(),
    'store.unknown_database',
    /^The server has no such database: database "crossbil" does not exist\. Create it \(create database/m,
  );
});

it('the daemon, `crossbill migrate` and `crossbill doctor` name a database role without login or without the right to connect', async () => {
  await asAdmin(`alter role ${role.name} nologin`);
  await refused(
    role.as(database.url),
    'store.login',
    /^The database refused the login: role "\w+" is not permitted to log in\. Let the role log in/m,
  );
  await asAdmin(`alter role ${role.name} login; revoke connect on database ${name} from public`);
  await refused(
    role.as(database.url),
    'store.login',
    /^The database refused the login: permission denied for database "\w+"\. Let the role connect/m,
  );
});

it.each([
  ['a table of ours', 'create table payment (id serial primary key, total numeric)', 'payment'],
  ['its own list of migrations', 'create table schema_migration (version text primary key)', 'schema_migration'],
])('Crossbill names the tables of another program in its database: %s', async (_, sql, named) => {
  await asAdmin(`alter database ${name} owner to ${role.name}`);
  await asAdmin(sql, database.url);
  const sentence = `^The database holds tables of another program \\(${named}\\)\\. Name a database of its own for Crossbill in DATABASE_URL\\.$`;
  await refused(role.as(database.url), 'store.others_tables', new RegExp(sentence, 'm'));
  expect(await tables()).toBe(1);
});

it('`crossbill migrate` names a missing right to create tables, and the remedy', async () => {
  await asAdmin(`revoke create on schema public from public`, database.url); // as PostgreSQL 15 and later have it
  const ran = await cli(['migrate', '--json'], { DATABASE_URL: role.as(database.url) });
  expect(ran.code).toBe(1);
  expect(JSON.parse(ran.out)).toMatchObject({ error: { code: 'right_missing' } });
  expect(ran.err).toMatch(/permission denied for schema public: .*`crossbill migrate` as the owner of the tables\.$/m);
  expect(await tables()).toBe(0);
});

it.each(['LATIN1', 'SQL_ASCII'])(
  'the daemon, `crossbill migrate` and `crossbill doctor` refuse a database with the encoding %s',
  async (encoding) => {
    const other = `${name}_${encoding.toLowerCase()}`;
    await asAdmin(`create database ${other} encoding '${encoding}' locale 'C' template template0`);
    const url = new URL(database.url);
    url.pathname = `/${other}`;
    try {
      await refused(
        url.toString(),
        'store.encoding',
        new RegExp(
          `^The database ${other} has the encoding ${encoding}, and Crossbill needs UTF8\\. Create a database .*: create database crossbill encoding 'UTF8'`,
          'm',
        ),
      );
    } finally {
      await asAdmin(`drop database ${other} with (force)`);
    }
  },
);

it('Crossbill refuses PostgreSQL 13 and warns of a version newer than the tested versions', () => {
  const facts = { encoding: 'UTF8', database: 'crossbill' };
  expect(() => refuseUnfit({ ...facts, version: 130_022 })).toThrow(
    'The server is PostgreSQL 13.22, and Crossbill needs 14 or later. Upgrade it, or name another server in DATABASE_URL.',
  );
  for (const version of [140_000, 180_004]) {
    expect(() => refuseUnfit({ ...facts, version })).not.toThrow();
    expect(versionCheck(version).state).toBe('ok');
  }
  expect(versionCheck(190_001)).toMatchObject({
    state: 'warn',
    detail: expect.stringContaining('PostgreSQL 19.1, newer'),
  });
});

it('Crossbill refuses a DATABASE_URL with several hosts, and its error names the right form', async () => {
  for (const hosts of ['h1:5432,h2:5432/db?target_session_attrs=read-write', 'h1,h2/db', '/db?host=h1,h2']) {
    const { code, err } = await cli(['migrate'], settingsFor(`postgres://ada:hunter22hunter22@${hosts}`));
    expect(code).toBe(78);
    expect(err).toContain(
      'DATABASE_URL: names several hosts, and Crossbill connects to one: give the one address of the primary',
    );
    expect(err).not.toContain('hunter22');
  }
});

it("the daemon's start waits for a free database connection, host name or server, and logs the reason", async () => {
  await asAdmin(`alter database ${name} owner to ${role.name}; alter role ${role.name} connection limit 0`);
  const full = start(role.as(database.url));
  await full.says('the database has no free connection');
  await asAdmin(`alter role ${role.name} connection limit 20`);
  await full.opened;

  const nowhere = start('postgres://u:hunter22@no-such-host.invalid/db');
  await nowhere.says("the database's host name does not resolve; trying again until it does");
  const nobody = start('postgres://u:hunter22@127.0.0.1:1/db');
  await nobody.says('the database does not answer; trying again until it does');
  expect([...nowhere.lines, ...nobody.lines].join('')).not.toContain('hunter22');
});

// The embedded PostgreSQL as the daemon uses it: its version, its data, and its recovery.
import { afterAll, expect, it } from '@jest/globals';
import { spawn, spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type EmbeddedPostgres, startEmbeddedPostgres } from '../src/embedded-postgres.js';
import { buildOwnerProgram, isRunning, query, startOwner, until, workFolder } from './owner-process.js';

const isRoot = process.getuid?.() === 0;
const itAsRoot = isRoot ? it : it.skip;

const folder = workFolder();
const dataDir = join(folder.path, 'data');
const said: string[] = [];
const log = {
  info: (message: string) => void said.push(message),
  warn: (message: string) => void said.push(message),
};
const start = async (dir = dataDir): Promise<EmbeddedPostgres> =>
  startEmbeddedPostgres({ dataDir: dir, log, settings: { fsync: 'off' } });
const mode = (...path: string[]): string => (statSync(join(dataDir, 'postgres', ...path)).mode & 0o777).toString(8);

afterAll(() => folder.remove());

it('the embedded PostgreSQL recovers from a kill in the middle of its first start', async () => {
  const debris = join(dataDir, 'postgres-init-999999999-x');
  mkdirSync(join(debris, 'data/base'), { recursive: true });
  writeFileSync(join(debris, 'data/PG_VERSION'), '18\n');
  const server = await start();
  expect(readdirSync(dataDir)).toEqual(['postgres']);
  expect(await query(server.url, 'select current_database() as name')).toEqual([{ name: 'crossbill' }]);
  await server.stop();
  expect(isRunning(server.pid)).toBe(false);
});

it('the embedded PostgreSQL keeps its data over a restart, and a second stop does no harm', async () => {
  const first = await start();
  await query(first.url, 'create table kept as select 7 as seven');
  await Promise.all([first.stop(), first.stop()]);
  const second = await start();
  expect(await query(second.url, 'select seven from kept')).toEqual([{ seven: 7 }]);
  await second.stop();
});

it('the embedded PostgreSQL has version 18, uses UTF-8 and UTC, and listens on this host only', async () => {
  const server = await startEmbeddedPostgres({ dataDir, log });
  const names = ['server_encoding', 'timezone', 'listen_addresses', 'unix_socket_directories', 'fsync'];
  const settings = [...names, 'synchronous_commit', 'max_connections', 'shared_buffers'];
  const rows = await query(server.url, `select ${settings.map((n) => `current_setting('${n}') as ${n}`).join(', ')}`);
  expect(rows).toEqual([
    {
      server_encoding: 'UTF8',
      timezone: 'UTC',
      listen_addresses: '127.0.0.1',
      unix_socket_directories: '',
      fsync: 'on',
      synchronous_commit: 'on',
      max_connections: '100',
      shared_buffers: '32MB',
    },
  ]);
  const locale = await query(
    server.url,
    `select datlocale, datlocprovider from pg_database where datname = 'crossbill'`,
  );
  expect(locale).toEqual([{ datlocale: 'C.UTF-8', datlocprovider: 'b' }]);
  expect(await query(server.url, `select current_setting('server_version') as v`)).toEqual([
    { v: expect.stringMatching(/^18\./) },
  ]);
  await server.stop();
});

it("the embedded PostgreSQL refuses a wrong password; only the data folder's owner can read the password, and no log shows it", async () => {
  const server = await start();
  const password = readFileSync(join(dataDir, 'postgres/password'), 'utf8');
  expect(password).toHaveLength(32);
  expect([mode(), mode('data'), mode('password'), mode('server.log')]).toEqual(['700', '700', '600', '600']);
  await expect(query(server.url.replace(password, 'guess'), 'select 1')).rejects.toThrow(
    'password authentication failed',
  );
  await server.stop();
  expect(said.join('\n')).not.toContain(password);
  expect(readFileSync(join(dataDir, 'postgres/server.log'), 'utf8')).not.toContain(password);
});

it('the embedded PostgreSQL keeps the text and values of a failed SQL statement out of its log', async () => {
  const server = await start();
  await expect(query(server.url, `select 'canary of a customer'::int`)).rejects.toThrow();
  await query(server.url, 'create table once (name text unique)');
  await expect(query(server.url, `insert into once values ('canary'), ('canary')`)).rejects.toThrow('duplicate key');
  await server.stop();
  expect(readFileSync(join(dataDir, 'postgres/server.log'), 'utf8')).not.toContain('canary');
});

it('the embedded PostgreSQL starts again on the same port after its process dies', async () => {
  const server = await start();
  const { pid, port, url } = server;
  process.kill(pid, 'SIGKILL');
  await until(() => server.pid !== pid);
  expect(server.port).toBe(port);
  expect(await query(url, 'select seven from kept')).toEqual([{ seven: 7 }]);
  await server.stop();
});

it('the embedded PostgreSQL starts although its old lock file names the process number of another process', async () => {
  const owner = statSync(join(dataDir, 'postgres/data'));
  const stranger = spawn('sleep', ['60'], isRoot ? { uid: owner.uid, gid: owner.gid, cwd: '/' } : {});
  const lock = join(dataDir, 'postgres/data/postmaster.pid');
  writeFileSync(lock, [stranger.pid, '/elsewhere', 1, 5432, '', '127.0.0.1', '', 'ready   ', ''].join('\n'));
  const server = await start();
  expect(server.adopted).toBe(false);
  expect(stranger.exitCode).toBeNull();
  await server.stop();
  stranger.kill();
});

itAsRoot('root keeps the embedded PostgreSQL in a folder closed to other users (skipped unless root)', async () => {
  const locked = join(folder.path, 'only root');
  mkdirSync(locked, { mode: 0o700 });
  const dir = join(locked, `Größe 'und' 数据 ${'x'.repeat(120)}`);
  const server = await start(dir);
  expect(await query(server.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  const user = statSync(`/proc/${server.pid}`).uid;
  expect(user).not.toBe(0);
  expect(statSync(join(dir, 'postgres/password')).uid).toBe(0);
  await server.stop();
  const again = await start(dir);
  expect(await query(again.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  await again.stop();
});

const stranger = { uid: 65_534, gid: 65_534 };
const canRead = { ...stranger, cwd: '/' };
const reachable = isRoot && spawnSync('test', ['-r', import.meta.filename], canRead).status === 0;
const itAsOther = reachable ? it : it.skip;

itAsOther('an ordinary user runs the embedded PostgreSQL in a home folder (skipped unless root)', async () => {
  const home = join(folder.path, 'home');
  mkdirSync(home, { mode: 0o700 });
  chownSync(home, stranger.uid, stranger.gid);
  const owner = await startOwner(buildOwnerProgram(folder.path), join(home, '.crossbill'), stranger);
  expect(await query(owner.reply.url, 'select 1 as one')).toEqual([{ one: 1 }]);
  expect(statSync(`/proc/${owner.reply.pid}`).uid).toBe(stranger.uid);
  await owner.stop();
  expect(isRunning(owner.reply.pid)).toBe(false);
});

const refusal = async (dir: string): Promise<unknown> => start(dir).catch((error: unknown) => error);

it('the embedded PostgreSQL names the remedy for data of another PostgreSQL version', async () => {
  const version = join(dataDir, 'postgres/data/PG_VERSION');
  writeFileSync(version, '17\n');
  expect(await refusal(dataDir)).toMatchObject({
    code: 'data_dir_version',
    message: expect.stringContaining('DATABASE_URL') as unknown,
  });
  writeFileSync(version, '18\n');
});

it('the embedded PostgreSQL names the remedy for a file in place of its data folder', async () => {
  writeFileSync(join(folder.path, 'file'), '');
  expect(await refusal(join(folder.path, 'file'))).toMatchObject({ code: 'data_dir_unusable' });
});

it('the embedded PostgreSQL names the remedy for a setting the server refuses', async () => {
  const error: unknown = await startEmbeddedPostgres({ dataDir, log, settings: { shared_buffers: 'much' } }).catch(
    (e: unknown) => e,
  );
  expect(error).toMatchObject({ code: 'start_failed', message: expect.stringContaining('shared_buffers') as unknown });
});

itAsRoot('the embedded PostgreSQL refuses a data folder owned by root (skipped unless root)', async () => {
  const dir = join(folder.path, 'rooted');
  mkdirSync(join(dir, 'postgres/data'), { recursive: true });
  chmodSync(join(dir, 'postgres/data'), 0o700);
  expect(await refusal(dir)).toMatchObject({ code: 'data_dir_unusable' });
});

// Ways to leave the embedded server behind, and the fate of the server and of the data.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { join } from 'node:path';
import { buildOwnerProgram, isRunning, query, startOwner, until, workFolder } from './owner-process.js';

const folder = workFolder();
const dataDir = join(folder.path, 'data');
let program = '';

beforeAll(() => {
  program = buildOwnerProgram(folder.path);
});
afterAll(() => folder.remove());

it('two processes starting together on a new folder share one embedded PostgreSQL, and the last process stops it', async () => {
  const [first, second] = await Promise.all([startOwner(program, dataDir), startOwner(program, dataDir)]);
  expect(second.reply).toMatchObject({ url: first.reply.url, pid: first.reply.pid });
  expect([first.reply.adopted, second.reply.adopted].sort()).toEqual([false, true]);
  await query(first.reply.url, 'create table kept (id int)');
  await first.stop();
  expect(isRunning(second.reply.pid)).toBe(true);
  await query(second.reply.url, 'insert into kept values (1)');
  await second.stop();
  expect(isRunning(second.reply.pid)).toBe(false);
});

it('the next process takes over the embedded PostgreSQL of a killed process, without a loss of data', async () => {
  const killed = await startOwner(program, dataDir);
  await query(killed.reply.url, 'insert into kept values (2)');
  killed.watchdog.hold(); // the next start comes within the grace, however slow the machine is
  await killed.kill();
  const next = await startOwner(program, dataDir);
  killed.watchdog.letGo();
  await until(() => killed.watchdog.hasEnded());
  expect(next.reply).toMatchObject({ adopted: true, pid: killed.reply.pid, url: killed.reply.url });
  expect(await query(next.reply.url, 'select count(*)::int as rows from kept')).toEqual([{ rows: 2 }]);
  await next.stop();
  expect(isRunning(next.reply.pid)).toBe(false);
});

it('an embedded PostgreSQL shared by two processes keeps running after one process is killed', async () => {
  const killed = await startOwner(program, dataDir);
  const other = await startOwner(program, dataDir);
  await killed.kill();
  await until(() => killed.watchdog.hasEnded()); // it looked, and left the server alone
  expect(isRunning(other.reply.pid)).toBe(true);
  await other.stop();
  expect(isRunning(other.reply.pid)).toBe(false);
});

it('the embedded PostgreSQL ends after a kill of its last process, and a new process finds the same data', async () => {
  const killed = await startOwner(program, dataDir);
  await killed.kill();
  await until(() => !isRunning(killed.reply.pid));
  const next = await startOwner(program, dataDir);
  expect(next.reply.adopted).toBe(false);
  expect(await query(next.reply.url, 'select count(*)::int as rows from kept')).toEqual([{ rows: 2 }]);
  await next.stop();
});

it('Ctrl-C in a terminal stops a process and leaves its embedded PostgreSQL running', async () => {
  const owner = await startOwner(program, dataDir);
  owner.watchdog.hold();
  process.kill(-(owner.process.pid ?? 0), 'SIGINT');
  await until(() => owner.process.signalCode !== null);
  const next = await startOwner(program, dataDir);
  owner.watchdog.letGo();
  expect(next.reply).toMatchObject({ adopted: true, pid: owner.reply.pid });
  await next.stop();
});

it('a new process starts the embedded PostgreSQL again after a kill of both the old process and PostgreSQL', async () => {
  const owner = await startOwner(program, dataDir);
  process.kill(owner.reply.pid, 'SIGKILL');
  await owner.kill();
  const next = await startOwner(program, dataDir);
  expect(next.reply.adopted).toBe(false);
  expect(await query(next.reply.url, 'select count(*)::int as rows from kept')).toEqual([{ rows: 2 }]);
  await next.stop();
});

// The demo at a first meeting: its command line's words are true.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { cli, cliJson } from './rig.js';
import { ensureBuilt } from '../e2e/support/daemon-process.js';
import { emptyDatabase } from '../support/rigs/database.js';

const PROGRAM = join(import.meta.dirname, '../../packages/sandbox/dist/demo/main.js');

let folder: string;
let database: Awaited<ReturnType<typeof emptyDatabase>>;
let demo: ChildProcess;
let envFile: string;
let said = '';

beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'crossbill-demo-'));
  database = await emptyDatabase();
  demo = spawn(process.execPath, [PROGRAM, '--customers', '12', '--months', '2'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], HOME: folder, DATABASE_URL: database.url, CROSSBILL_DATA_DIR: folder },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    demo.stderr?.on('data', (text: Buffer) => (said += text.toString()));
    demo.stdout?.on('data', (text: Buffer) => {
      said += text.toString();
      if (said.includes('Stop everything with Ctrl-C.')) resolve();
    });
    demo.once('exit', (code) => reject(new Error(`the demo ended with ${code}: ${said}`)));
  });
  // In the demo's words: `command line: node dist/cli.js status --env-file <file>`, in its starting folder.
  envFile = join(folder, /--env-file (\S+)/.exec(said)?.[1] ?? 'not said');
});
afterAll(async () => {
  const ended = new Promise((resolve) => demo.once('exit', resolve));
  demo.kill('SIGTERM');
  await ended;
  await database.drop();
  rmSync(folder, { recursive: true, force: true });
});

it("`crossbill doctor` finds no failure in the demo and warns only of the demo's open items and parked event", async () => {
  const { code, body } = await cliJson<{ checks: { name: string; state: string; detail: string }[] }>(
    ['doctor', '--env-file', envFile],
    {},
  );
  expect(body.checks.filter((c) => c.state !== 'ok').map((c) => [c.name, c.state, c.detail])).toEqual([
    ['parked events', 'warn', '1'],
    ['open review items', 'warn', expect.stringContaining('1 dispute')],
  ]);
  expect(code).toBe(0);
  const endpoint = body.checks.find((c) => c.name === 'webhook endpoint at the MoR');
  expect(endpoint?.detail).toMatch(/^wh_\S+ at 127\.0\.0\.1:\d+$/);
});

it("the demo's metered customer and its customer with usage pay the final amount of each draft", async () => {
  const { body } = await cliJson<{ data: { amount: number; status: string; origin: string }[] }>(
    ['payments', '--limit', '100', '--env-file', envFile],
    {},
  );
  const renewals = body.data.filter((p) => p.origin === 'renewal' && p.status !== 'failed').map((p) => p.amount);
  const usage = [1210, 1220]; // 121 and 122 calls, in the first and the second month
  const plans = [900, 2900, 4950, 1480];
  expect(renewals.filter((amount) => amount === 1220)).toHaveLength(1);
  for (const calls of usage) expect(renewals.filter((a) => plans.some((plan) => a === plan + calls))).toHaveLength(1);
  expect(said).toMatch(/Renewals with usage +3 /);
  const { checks } = (
    await cliJson<{ checks: { name: string; detail: string }[] }>(['doctor', '--env-file', envFile], {})
  ).body;
  const amounts = checks.find((c) => c.name === 'amounts that are final when the MoR charges');
  expect(amounts?.detail).toMatch(/^2 of these subscriptions bill by usage, .*the MoR gets final invoices$/);
});

it('the demo ends now: its signups lie months back, and no open dispute is overdue', async () => {
  const lists = ['payments', 'reviews'].map((noun) =>
    cliJson<{ data: { origin?: string; succeeded_at?: string; kind?: string; due_at?: string }[] }>(
      [noun, ...(noun === 'reviews' ? ['list', '--status', 'open'] : []), '--limit', '100', '--env-file', envFile],
      {},
    ),
  );
  const [payments = [], reviews = []] = (await Promise.all(lists)).map(({ body }) => body.data);
  const ageDays = (at = ''): number => (Date.now() - Date.parse(at)) / 86_400_000;
  const signups = payments.filter((p) => p.origin === 'signup').map((p) => ageDays(p.succeeded_at));
  expect(signups.length).toBeGreaterThan(0);
  for (const days of signups) expect(days).toBeGreaterThan(60);
  const taken = payments.flatMap((p) => p.succeeded_at ?? []).map((at) => ageDays(at));
  expect(Math.min(...taken)).toBeLessThan(1);
  const due = reviews.filter((r) => r.kind === 'dispute').map((r) => ageDays(r.due_at));
  expect(due).toHaveLength(1);
  for (const days of due) expect(days).toBeLessThan(0);
});

it('the command line works with the settings file the demo names', async () => {
  const status = await cli(['status', '--env-file', envFile]);
  expect(status).toEqual({ code: 0, out: expect.stringMatching(/^Invoices\n/), err: '' });
});

it('the demo leaves as many open review items as it announces', async () => {
  const { body } = await cliJson<{ data: { kind: string }[] }>(
    ['reviews', 'list', '--status', 'open', '--env-file', envFile],
    {},
  );
  expect(said).toContain(`left for you in the console: ${body.data.length} review item`);
  expect(body.data.map((r) => r.kind)).toContain('dispute');
});

// The programs beside the command line, as the package has them.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { parseEnv } from 'node:util';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { loadConfig } from '../../src/shared/config/index.js';
import { ensureBuilt } from '../e2e/support/daemon-process.js';
import { cli } from './rig.js';

const ROOT = join(import.meta.dirname, '../..');
const CLI = join(ROOT, 'dist/cli.js');
let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'crossbill-programs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs it in an empty folder; `onOut` receives the output so far and may end it. */
function crossbill(
  argv: readonly string[],
  env: Record<string, string> = {},
  onOut: (out: string, end: () => void) => void = () => undefined,
): Promise<Ended> {
  return new Promise((resolve) => {
    let [out, err] = ['', ''];
    const child = spawn(process.execPath, [CLI, ...argv], {
      cwd: folder,
      env: { PATH: process.env['PATH'], HOME: folder, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
      onOut(out, () => child.kill('SIGTERM'));
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => (err += text));
    child.once('close', (code) => resolve({ code, out, err }));
  });
}

it('`crossbill start` runs the daemon, which names each wrong setting and ends with exit code 78', async () => {
  const { code, err } = await crossbill(['start'], { NODE_ENV: 'production' });
  expect(code).toBe(78);
  for (const name of ['DATABASE_URL', 'STRIPE_API_KEY', 'API_KEYS']) expect(err).toContain(name);
});

it('`crossbill sandbox` prints the settings of a daemon and ends on a signal', async () => {
  const ports = { SANDBOX_STRIPE_PORT: '0', SANDBOX_MOR_PORT: '0' };
  let answered = 0;
  const ended = await crossbill(['sandbox'], ports, (out, end) => {
    const base = /^STRIPE_API_BASE=(.*)$/m.exec(out)?.[1];
    if (answered > 0 || base === undefined || !out.includes('# control routes')) return;
    answered = 1;
    void fetch(`${base}/v1/account`).then((r) => {
      answered = r.status;
      end();
    });
  });
  expect([ended.code, answered, ended.err]).toEqual([0, 401, '']);
  const printed = parseEnv(ended.out);
  expect(printed['MOR_RELAY_URL']).toBe(`${printed['MOR_BASE_URL']}/relay/stripe`);
  // A daemon takes the lines as they are, with no setting of the test's own.
  expect(loadConfig({ ...printed, NODE_ENV: 'development' }).morRelaySecret?.reveal()).toMatch(/^whsec_/);
});

it('a daemon without settings ends with exit code 78 and names every missing setting', () => {
  const env = { PATH: process.env['PATH'], HOME: folder };
  const ended = spawnSync(process.execPath, [join(ROOT, 'dist/main.js')], { cwd: folder, env, encoding: 'utf8' });
  expect([ended.status, ended.stdout]).toEqual([78, '']);
  expect(ended.stderr).toMatch(
    /^8 settings are wrong\n(?: {2}\w+: is not set and has no default\n){8}Set them .*`crossbill init` writes one\.\n$/,
  );
});

it('the daemon ends with exit code 1 on a used port, and its log names the port', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const env = {
    PATH: process.env['PATH'],
    PORT: String(port),
    STRIPE_API_KEY: 'sk_test_1',
    STRIPE_WEBHOOK_SECRETS: 'whsec_0123456789abcdef',
    MOR_BASE_URL: 'http://127.0.0.1:1',
    MOR_AUTH_URL: 'http://127.0.0.1:1',
    MOR_CLIENT_ID: 'client',
    MOR_CLIENT_SECRET: 'secret',
    MOR_PAYMENT_WEBHOOK_SECRETS: 'secret-0123456789abcdef',
    API_KEYS: `shop:ops:${'k'.repeat(32)}`,
  };
  const ended = spawnSync(process.execPath, [join(ROOT, 'dist/main.js')], { cwd: folder, env, encoding: 'utf8' });
  server.close();
  expect(ended.status).toBe(1);
  const line = JSON.parse(ended.stdout.trim()) as Record<string, unknown>;
  expect(line).toMatchObject({ event: 'daemon.not_started', code: 'port_in_use' });
  expect(line['msg']).toContain(String(port));
});

it('a command writing to a full disk ends with exit code 1 and names the error', () => {
  const full = openSync('/dev/full', 'w');
  const env = { PATH: process.env['PATH'], HOME: folder };
  const ended = spawnSync(process.execPath, [CLI, 'completion', 'bash'], {
    env,
    stdio: ['ignore', full, 'pipe'],
    encoding: 'utf8',
  });
  closeSync(full);
  expect([ended.status, ended.stderr]).toEqual([1, expect.stringMatching(/ENOSPC/)]);
});

it('`crossbill sandbox` names a wrong setting and ends with exit code 1', async () => {
  const ended = await crossbill(['sandbox'], { SANDBOX_MOR_PORT: 'eighty' });
  expect(ended).toEqual({ code: 1, out: '', err: 'SANDBOX_MOR_PORT must be a port number\n' });
});

it("`crossbill sandbox --help` lists the sandbox's settings, and `crossbill demo --help` lists the demo's options", async () => {
  const sandbox = await cli(['sandbox', '--help']);
  expect([sandbox.code, sandbox.err]).toEqual([0, '']);
  for (const name of ['SANDBOX_STRIPE_PORT', 'SANDBOX_MOR_PORT', 'SANDBOX_HOST', 'SANDBOX_SEED', 'SANDBOX_PSP'])
    expect(sandbox.out).toContain(name);
  const demo = await crossbill(['demo', '--help']);
  expect([demo.code, demo.err]).toEqual([0, '']);
  for (const option of ['--customers', '--months', '--seed', '--once']) expect(demo.out).toContain(option);
});

it("the GitHub action for a merchant's CI starts the sandbox and a daemon and exports their addresses and keys", async () => {
  const temp = join(folder, 'runner');
  mkdirSync(join(temp, 'crossbill/node_modules'), { recursive: true });
  symlinkSync(ROOT, join(temp, 'crossbill/node_modules/crossbill'));
  symlinkSync(join(ROOT, 'node_modules/@crossbill'), join(temp, 'crossbill/node_modules/@crossbill'));
  const given = join(temp, 'github-env');
  const env = {
    PATH: process.env['PATH'],
    HOME: folder,
    RUNNER_TEMP: temp,
    GITHUB_ENV: given,
    CROSSBILL_PORT: String(await freePort()),
    SANDBOX_STRIPE_PORT: '0',
    SANDBOX_MOR_PORT: '0',
  };
  const pid = (name: string): number => Number(readFileSync(join(temp, `crossbill/${name}.pid`), 'utf8'));
  try {
    const said = execFileSync(join(ROOT, '.github/actions/sandbox/start.sh'), { env, encoding: 'utf8' });
    expect(said).toMatch(/^Crossbill listens on http:\/\/127\.0\.0\.1:\d+, Stripe on http:.*, the MoR on http:.*\.\n$/);
    const {
      CROSSBILL_URL: url,
      CROSSBILL_API_KEY: key,
      STRIPE_API_BASE: stripe,
    } = parseEnv(readFileSync(given, 'utf8'));
    expect((await fetch(`${stripe}/v1/account`)).status).toBe(401);
    const invoices = await fetch(`${url}/v1/invoices`, { headers: { authorization: `Bearer ${key}` } });
    expect([invoices.status, await invoices.json()]).toEqual([200, { data: [] }]);
  } finally {
    for (const name of ['daemon', 'sandbox']) {
      const one = pid(name);
      process.kill(one, 'SIGTERM');
      while (isRunning(one)) await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
});

// The programs beside the command line, as the package has them.
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { ensureBuilt } from '../e2e/support/daemon-process.js';
import { cli } from './rig.js';

const CLI = join(import.meta.dirname, '../../dist/cli.js');
let folder: string;
beforeAll(async () => {
  await ensureBuilt();
  folder = mkdtempSync(join(tmpdir(), 'crossbill-programs-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Ended = { readonly code: number | null; readonly out: string; readonly err: string };

/** Runs it in an empty folder; `onOut` hears what was printed so far and may end it. */
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

it('`crossbill sandbox` prints the settings of a daemon and ends when it is told to', async () => {
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
  for (const name of ['STRIPE_API_KEY', 'STRIPE_WEBHOOK_SECRETS', 'MOR_BASE_URL', 'MOR_CLIENT_SECRET', 'API_KEYS'])
    expect(ended.out).toMatch(new RegExp(`^${name}=\\S+$`, 'm'));
});

it('a wrong setting of the sandbox is named, with exit code 1', async () => {
  const ended = await crossbill(['sandbox'], { SANDBOX_MOR_PORT: 'eighty' });
  expect(ended).toEqual({ code: 1, out: '', err: 'SANDBOX_MOR_PORT must be a port number\n' });
});

it('`crossbill sandbox --help` lists its settings, `crossbill demo --help` its options', async () => {
  const sandbox = await cli(['sandbox', '--help']);
  expect([sandbox.code, sandbox.err]).toEqual([0, '']);
  for (const name of ['SANDBOX_STRIPE_PORT', 'SANDBOX_MOR_PORT', 'SANDBOX_HOST', 'SANDBOX_SEED', 'SANDBOX_PSP'])
    expect(sandbox.out).toContain(name);
  const demo = await crossbill(['demo', '--help']);
  expect([demo.code, demo.err]).toEqual([0, '']);
  for (const option of ['--customers', '--months', '--seed', '--once']) expect(demo.out).toContain(option);
});

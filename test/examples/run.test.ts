// `npm run example` as a person runs it: everything comes up, and Ctrl-C leaves nothing behind.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { root } from '../docs/support.js';
import { ensureBuilt } from '../e2e/support/daemon-process.js';
import { adminUrl, alone } from '../support/rigs/database.js';

const SHOP_PORT = 4000;
const UP_WITHIN_MS = 100_000;

describe('npm run example', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-example-'));
  let program: ChildProcess;
  let taken: Server | null = null;
  let said = '';

  const addressOf = (what: string): string => new RegExp(`^${what} +(http://[\\d.:]+)`, 'm').exec(said)?.[1] ?? '';
  const statusOf = (url: string): Promise<number> =>
    fetch(url).then(
      (reply) => reply.status,
      () => 0,
    );

  beforeAll(async () => {
    await ensureBuilt();
    await alone('build the client', () => {
      if (existsSync(join(root, 'packages/client/dist/index.mjs'))) return;
      execFileSync('npm', ['run', '--silent', '--prefix', 'packages/client', 'build'], { cwd: root, stdio: 'pipe' });
    });
    taken = await occupy(SHOP_PORT);
    program = spawn(process.execPath, ['packages/sandbox/dist/example/main.js'], {
      cwd: root,
      env: { ...process.env, DATABASE_URL: adminUrl(), CROSSBILL_DATA_DIR: folder },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    for (const stream of [program.stdout, program.stderr])
      stream?.on('data', (text: Buffer) => (said += text.toString()));
    const deadline = performance.now() + UP_WITHIN_MS;
    while (!said.includes('Stop everything with Ctrl-C')) {
      if (program.exitCode !== null || performance.now() > deadline) throw new Error(`not up: ${said}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  });
  afterAll(() => {
    program?.kill('SIGKILL');
    taken?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it("`npm run example` starts shop, console and sandbox, and names the shop's URL if port 4000 is taken", async () => {
    expect(said).toContain(`port ${SHOP_PORT} is taken`);
    expect(addressOf('Shop')).not.toBe(`http://127.0.0.1:${SHOP_PORT}`);
    expect(await statusOf(`${addressOf('Shop')}/api/shop`)).toBe(200);
    expect(await statusOf(`${addressOf('Console')}/readyz`)).toBe(200);
    expect(await statusOf(`${addressOf('Sandbox')}/_sandbox/confirm.js`)).toBe(200);
    expect(readFileSync(join(folder, 'daemon.env'), 'utf8')).toContain(
      `NOTIFY_URL='${addressOf('Shop')}/hooks/crossbill'`,
    );
  });

  it('Ctrl-C ends every process of `npm run example`, even if pressed twice', async () => {
    const ended = new Promise((resolve) => program.once('exit', (code, signal) => resolve(code ?? signal)));
    const started = childrenOf(program.pid ?? 0);
    expect(started.length).toBeGreaterThanOrEqual(2); // the daemon and the shop
    program.kill('SIGINT');
    program.kill('SIGINT');
    expect(await ended).toBe(0);
    // Not by their addresses: a demo beside this one may have taken a port that became free.
    expect(started.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
    expect(existsSync(join(folder, 'daemon.env'))).toBe(false);
  });
});

function childrenOf(pid: number): readonly number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ').map(Number);
}

/** Null: somebody else has it, which does as well. */
function occupy(port: number): Promise<Server | null> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(null));
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

// The target of the log cannot stop the daemon: a full disk, and a reader that stands still, from its start to its end.
import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startWorld, type World } from '../support/world.js';
import { DaemonProcess, ensureBuilt, freePort } from './support/daemon-process.js';

function fill(fifo: number): void {
  try {
    for (;;) writeSync(fifo, 'x'.repeat(1024));
  } catch {
    // full
  }
}

/** Each refused delivery is a line of the log at this level. */
const DELIVERIES = 100;

describe('a daemon whose log is not taken', () => {
  const folder = mkdtempSync(join(tmpdir(), 'crossbill-log-'));
  let world: World;
  beforeAll(async () => {
    await ensureBuilt();
    world = await startWorld();
  });
  afterAll(async () => {
    await world.close();
    rmSync(folder, { recursive: true, force: true });
  });

  async function livesOn(stdout: number, linesAreLost: boolean): Promise<void> {
    const port = await freePort();
    const url = `http://127.0.0.1:${port}`;
    const env = { ...world.env, PORT: String(port), LOG_LEVEL: 'trace' };
    const daemon = new DaemonProcess(url, env, [], stdout);
    await daemon.start();
    for (let n = 0; n < DELIVERIES; n++) {
      const answer = await fetch(`${url}/webhooks/stripe`, {
        method: 'POST',
        body: '{}',
        signal: AbortSignal.timeout(5_000),
      });
      expect(answer.status).toBe(400);
    }
    const metrics = await (await fetch(`${url}/metrics`)).text();
    const lost = Number(/^crossbill_log_lines_dropped_total (\d+)$/m.exec(metrics)?.[1]);
    if (linesAreLost) expect(lost).toBeGreaterThan(0);
    expect((await fetch(`${url}/livez`)).status).toBe(200);
    expect(await daemon.end('SIGTERM')).toBe(0);
  }

  it('for a full disk answers, counts the lines that are lost, and ends when it is told to', async () => {
    const full = openSync('/dev/full', 'w');
    await livesOn(full, true);
    closeSync(full);
  });

  it('for a reader that stands still answers, and ends when it is told to', async () => {
    const fifo = join(folder, 'fifo');
    execFileSync('mkfifo', [fifo]);
    const reader = openSync(fifo, constants.O_RDONLY | constants.O_NONBLOCK);
    const writer = openSync(fifo, 'w');
    // Nothing more fits in.
    const filler = openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK);
    fill(filler);
    await livesOn(writer, false);
    for (const fd of [reader, writer, filler]) closeSync(fd);
  });
});

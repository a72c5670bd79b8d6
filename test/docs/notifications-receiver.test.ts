// The receiver of docs/build-on-it.md, run as it stands there.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { Secret } from '../../src/shared/config/index.js';
import { HttpReceiver } from '../../src/features/notifications/receiver.js';
import { sampleOf, putDown } from '../../src/features/notifications/rules/all.js';
import { freePort } from '../e2e/support/daemon-process.js';
import { newSecret } from '../support/fakes/notify-receiver.js';
import { root, textOf } from './support.js';
import { STANDARD } from '../support/builders/notify-as.js';

let child: ChildProcess;
let url: string;
let said = '';
const folder = mkdtempSync(join(tmpdir(), 'crossbill-receiver-'));

beforeAll(async () => {
  const code = /### A receiver\n[\s\S]*?```js\n([\s\S]+?)```/.exec(textOf('docs/build-on-it.md'))?.[1] ?? '';
  writeFileSync(join(folder, 'receiver.mjs'), code);
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  const port = await freePort();
  url = `http://127.0.0.1:${port}/hook`;
  child = spawn(process.execPath, ['receiver.mjs'], {
    cwd: folder,
    env: { PATH: process.env['PATH'], PORT: String(port), NOTIFY_SECRET: newSecret(5) },
  });
  child.stdout?.setEncoding('utf8').on('data', (text: string) => (said += text));
  const end = Date.now() + 60_000;
  while (
    !(await fetch(url, { method: 'POST' }).then(
      () => true,
      () => false,
    ))
  ) {
    if (Date.now() > end || child.exitCode !== null) throw new Error('the receiver does not listen');
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
});
afterAll(() => {
  child.kill();
  rmSync(folder, { recursive: true });
});

it('the example receiver of docs/build-on-it.md accepts a signed delivery once, and refuses a wrong secret', async () => {
  const at = new Date();
  const notified = putDown(sampleOf('invoice.paid', 'x'), STANDARD, at);
  const [right, rotated, wrong] = [[newSecret(5)], [newSecret(6), newSecret(5)], [newSecret(6)]].map(
    (secrets) =>
      new HttpReceiver(
        new Secret(url),
        secrets.map((s) => new Secret(s)),
      ),
  );
  expect(await right?.send(notified, at)).toMatchObject({ outcome: 'delivered', status: 204 });
  expect(await rotated?.send(notified, at)).toMatchObject({ outcome: 'delivered', status: 204 });
  expect(await wrong?.send(notified, at)).toMatchObject({ outcome: 'failed', status: 400 });
  expect(await right?.send(notified, new Date(at.getTime() - 600_000))).toMatchObject({
    outcome: 'failed',
    status: 400,
  });
  expect(said).toBe('invoice.paid in_sample\n');
  for (const r of [right, rotated, wrong]) await r?.close();
});

// A new event of the MoR costs one folder and one line: the example feature works in the built daemon and command line.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { sign } from '../support/builders/signing.js';
import { OPS_KEY, startWorld, type World } from '../support/rigs/world.js';
import { Visitor } from '../console/visitor.js';
import { DaemonProcess, ensureBuilt } from './support/daemon-process.js';
import { paidRenewal } from './support/story.js';

const ROOT = join(import.meta.dirname, '../..');
const WITH_EXAMPLE = ['--import', pathToFileURL(join(import.meta.dirname, 'support/with-example.mjs')).href];

let world: World;
let receiver: NotifyReceiver;
let daemon: DaemonProcess;

beforeAll(async () => {
  await ensureBuilt();
  receiver = await NotifyReceiver.open();
  world = await startWorld({ NOTIFY_URL: receiver.url, NOTIFY_SECRETS: newSecret(1), LOG_LEVEL: 'info' });
  daemon = await DaemonProcess.on(world.env, WITH_EXAMPLE);
  world.daemons.push({ url: daemon.url, stop: async () => void (await daemon.end('SIGKILL')) });
  world.deliverTo(daemon);
  await daemon.start();
}, 300_000);
afterAll(async () => {
  await world?.close();
  await receiver?.close();
});

it('an example feature outside of src takes an event, asks a person, notifies, and has a page, a route and a command', async () => {
  const { invoiceId } = await paidRenewal(world);
  const body = JSON.stringify({
    id: 'evt_payout_delayed_1',
    type: 'payout.delayed',
    created: new Date().toISOString(),
    data: { invoice_id: invoiceId, expectedAt: '2026-12-24' },
  });
  const secret = String(world.env['MOR_EVENT_WEBHOOK_SECRETS']);
  const sent = await fetch(`${daemon.url}/webhooks/mor/events`, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', 'service-signature': sign(body, secret) },
  });
  expect(sent.status).toBe(200);

  const [item] = await world.until(
    'a person is asked',
    () => world.list('/v1/reviews?kind=payout_delayed'),
    (items) => items.length > 0,
  );
  expect(item).toMatchObject({ status: 'open', invoice_id: invoiceId, actions: ['apply', 'dismiss'] });
  const id = String(item?.['id']);
  expect((await world.api('GET', '/v1/payouts')).body).toMatchObject([{ review_id: id }]);
  const told = await world.until(
    'the backend is notified',
    () => receiver.heard.map((h) => JSON.parse(h.body) as { type: string; data: unknown }),
    (all) => all.some(({ type }) => type === 'payout.delayed'),
  );
  expect(told.find(({ type }) => type === 'payout.delayed')?.data).toMatchObject({ review_id: id });

  const visitor = new Visitor(daemon.url);
  await visitor.post('/console/login', { key: OPS_KEY, to: '/console' });
  expect((await visitor.get('/console/payouts')).text).toContain(id);
  const printed = execFileSync(process.execPath, [...WITH_EXAMPLE, 'dist/cli.js', 'payouts', '--json'], {
    cwd: ROOT,
    env: { ...process.env, ...world.env },
  });
  expect(JSON.parse(printed.toString())).toMatchObject({ delayed: [{ review_id: id }] });

  expect((await world.api('POST', `/v1/reviews/${id}/resolve`, { resolution: 'apply' })).status).toBe(200);
  expect((await world.api('GET', '/v1/payouts')).body).toEqual([]);
});

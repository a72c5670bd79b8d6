// `crossbill listen`, `trigger`, `notifications` and the words of `doctor` and `status`, against a running daemon and a
// real receiver.
import { afterAll, beforeAll, expect, it } from '@jest/globals';
import { NOTIFICATION_TYPES } from '../../src/features/notifications/rules/all.js';
import { newSecret, NotifyReceiver } from '../support/fakes/notify-receiver.js';
import { startWorld, type World } from '../support/rigs/world.js';
import { cli, cliJson } from './rig.js';

const SECRET = newSecret(7);
type Check = { readonly name: string; readonly state: string; readonly detail: string; readonly todo: string };

let world: World;
let receiver: NotifyReceiver;
let env: Record<string, string>;

beforeAll(async () => {
  receiver = await NotifyReceiver.open();
  world = await startWorld();
  env = { ...world.env, NOTIFY_URL: receiver.url, NOTIFY_SECRETS: SECRET };
  await world.startDaemon({ NOTIFY_URL: receiver.url, NOTIFY_SECRETS: SECRET });
});
afterAll(async () => {
  await world.close();
  await receiver.close();
});

const doctor = async (): Promise<readonly Check[]> => {
  const ran = await cliJson<{ checks: Check[] }>(['doctor'], env);
  return ran.body.checks.filter((c) => c.name === 'notifications');
};

it('`crossbill trigger` sends a signed sample of every notification type and stores nothing', async () => {
  for (const type of NOTIFICATION_TYPES) {
    const ran = await cli(['trigger', type], env);
    expect([ran.code, ran.out]).toEqual([0, expect.stringContaining('the receiver answered 200')]);
    const heard = receiver.heard.at(-1);
    if (heard === undefined) throw new Error('nothing came');
    expect(NotifyReceiver.verify(heard, SECRET)).toMatchObject({ type });
  }
  expect((await cliJson<{ data: unknown[] }>(['notifications'], env)).body.data).toEqual([]);
  const wrong = await cli(['trigger', 'invoice.eaten'], env);
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('Use one of invoice.paid')]);
  const unset = await cli(['trigger', 'invoice.paid'], world.env);
  expect([unset.code, unset.err]).toEqual([78, expect.stringContaining('NOTIFY_URL is not set')]);
});

it('`crossbill listen` prints notifications live and forwards them with valid signatures', async () => {
  const local = await NotifyReceiver.open();
  const stop = new AbortController();
  const lines: string[] = [];
  const stderr: string[] = [];
  // `--since`: without it, the command takes the time of its begin only after its "Listening".
  const listening = cli(['listen', '--forward', local.url, '--since', new Date().toISOString()], env, {
    signal: stop.signal,
    onOut: (text) => lines.push(text),
    onErr: (text) => stderr.push(text),
  });
  await world.until(
    'it listens',
    () => Promise.resolve(stderr.join('')),
    (err) => err.includes('Listening'),
  );
  const s = await world.subscriber();
  await world.until(
    'it was sent on',
    () => Promise.resolve(local.of('invoice.paid')),
    (h) => h.length > 0,
  );
  stop.abort();
  expect((await listening).code).toBe(0);
  const [sentOn] = local.of('invoice.paid');
  const notified = await world.until(
    'the daemon has sent it, too',
    () => Promise.resolve(receiver.heard.find((h) => h.id === sentOn?.id)),
    (h) => h !== undefined,
  );
  if (sentOn === undefined || notified === undefined) throw new Error('nothing came');
  expect(NotifyReceiver.verify(sentOn, SECRET)).toMatchObject({ data: { invoice_id: s.firstInvoiceId } });
  expect([sentOn.id, sentOn.body]).toEqual([notified.id, notified.body]);
  expect(lines.join('')).toContain(sentOn.id);
  await local.close();
  const outside = await cli(['listen', '--forward', 'https://shop.example/hook'], env);
  expect([outside.code, outside.err]).toEqual([2, expect.stringContaining('private network')]);
  expect((await cli(['listen'], world.env)).code).toBe(78);
});

it('`crossbill notifications replay` sends a notification again and records the replay in the audit trail', async () => {
  const listed = await cliJson<{ data: { id: string; type: string }[] }>(
    ['notifications', 'list', '--type', 'invoice.paid'],
    env,
  );
  const id = listed.body.data[0]?.id ?? '';
  const before = receiver.heard.filter((h) => h.id === id).length;
  expect((await cli(['notifications', 'replay', id], env)).out).toContain(`Queued for another delivery: ${id}`);
  await world.until(
    'it came again',
    () => Promise.resolve(receiver.heard.filter((h) => h.id === id).length),
    (n) => n === before + 1,
  );
  const shown = await cli(['notifications', 'show', id], env);
  expect(shown.out).toContain('invoice.paid');
  const audit = await world.api<{ data: { action: string; target: string }[] }>(
    'GET',
    '/v1/audit?action=notification.replay',
  );
  expect(audit.body.data[0]).toMatchObject({ target: id });
  expect((await cli(['notifications', 'replay', 'msg_none'], env)).code).toBe(1);
  expect((await cli(['notifications', 'replay'], env)).code).toBe(2);
});

const nothingWaits = (): Promise<unknown> =>
  world.until(
    'nothing waits any more',
    () => cliJson<{ notifications: { pending: number } }>(['status'], env),
    (r) => r.body.notifications.pending === 0,
  );

it('`crossbill doctor` checks NOTIFY_URL without a delivery, and reports a receiver that answers 410, as `crossbill status` does', async () => {
  await nothingWaits(); // notifications of the stories before may still be on their way
  const before = receiver.heard.length;
  expect(await doctor()).toEqual([
    expect.objectContaining({ state: 'ok', todo: expect.stringContaining('To test the receiver, send it a sample') }),
  ]);
  expect(receiver.heard.length).toBe(before);
  receiver.reply = () => 410;
  await world.subscriber();
  await world.until('the receiver is known to be gone', doctor, (checks) => checks.some((c) => c.state === 'fail'));
  expect((await cli(['status'], env)).out).toContain('The receiver answered 410');
  receiver.reply = () => 200;
  expect((await cli(['trigger', 'review.opened'], env)).code).toBe(0);
  await nothingWaits();
  expect((await doctor()).map((c) => c.state)).toEqual(['ok']);
});

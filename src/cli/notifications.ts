// `crossbill notifications`, `listen` and `trigger`: what the merchant's backend is told, looked at, sent again, tried out.
import { randomBytes } from 'node:crypto';
import { type Command, InvalidArgumentError } from 'commander';
import { isForbiddenAddress } from '../config/addresses.js';
import { isPrivateHost } from '../config/parsers.js';
import { Secret } from '../config/index.js';
import { NOTIFICATION_TYPES, type NotificationType, sampleOf } from '../domain/notification.js';
import { Clock } from '../domain/ports/clock.js';
import {
  LISTED_AT_ONCE,
  NOTIFICATION_STATUSES,
  type NotificationRow,
  Notifications,
} from '../domain/ports/notifications.js';
import { notificationView, notificationWithTriesView } from '../notifications/notification.view.js';
import { HttpReceiver } from '../notifications/receiver.js';
import { putDown } from '../notifications/rules/put-down.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Action, type Cli, need, oneOf, parseCount, parseSince, type Session } from './session.js';
import { plain, table, time } from './table.js';
import { type World } from './world.js';

const LOOK_EVERY_MS = 500;
/** Rows are committed in another order than their times say, by as much as a statement lasts. */
const OVERLAP_MS = 20_000;

export function addNotifications(program: Command, session: Session): void {
  const parent = program.command('notifications').description('the notifications to your backend (NOTIFY_URL)');
  session
    .leaf(parent, 'list', 'notifications, newest first', list, true)
    .option('--status <status>', 'pending, delivered or dead', oneOf(NOTIFICATION_STATUSES))
    .option('--type <type>', 'only this type', oneOf(NOTIFICATION_TYPES))
    .option('--limit <n>', 'how many to list', parseCount(100), 20)
    .option('--cursor <cursor>', 'continue after this cursor');
  session.leaf(parent, 'show <notification>', 'one with its tries and its body', show);
  session
    .leaf(parent, 'replay [notification]', 'send one again: the same id, the same bytes', replay)
    .option('--all-dead', 'every one that was given up on');
  session
    .leaf(program, 'listen', 'print notifications as they are written; --forward sends them on to this machine', listen)
    .option('--forward <url>', 'an address of this machine or the private network', localUrl)
    .option('--since <when>', 'begin earlier: a past date, or a span such as 1h', parseSince);
  session.leaf(
    program,
    'trigger <type>',
    'send a sample notification to NOTIFY_URL, signed; nothing is stored',
    trigger,
  );
}

async function list(cli: Cli): Promise<number> {
  const world = await cli.open();
  const o: Record<string, unknown> = cli.options;
  const filter = {
    ...(typeof o['status'] === 'string' ? { status: o['status'] } : {}),
    ...(typeof o['type'] === 'string' ? { type: o['type'] } : {}),
  };
  const cursor = typeof o['cursor'] === 'string' ? o['cursor'] : null;
  const page = await world.get(Notifications).list(filter, { limit: o['limit'] as number, cursor });
  const next = page.nextCursor === null ? {} : { next_cursor: page.nextCursor };
  await cli.print({ data: page.data.map(notificationView), ...next }, () => {
    const rows = page.data.map((n) => [
      n.id,
      time(n.at),
      n.type,
      n.status,
      n.invoiceId ?? '-',
      String(n.attempts),
      n.tries.at(-1)?.why ?? '',
    ]);
    const more = page.nextCursor === null ? '' : `more: --cursor ${page.nextCursor}\n`;
    return table(['id', 'written', 'type', 'status', 'invoice', 'tries', 'last trouble'], rows) + more;
  });
  return EXIT.ok;
}

async function show(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const found = await the(await cli.open(), need(args));
  const view = notificationWithTriesView(found);
  await cli.print(view, () => {
    const tries = found.tries.map((t) => [
      time(t.at),
      String(t.status ?? '-'),
      t.why ?? 'delivered',
      `${t.elapsedMs} ms`,
    ]);
    return [
      `${found.type} ${found.id}, ${found.status}, next try ${time(found.nextTryAt)}\n`,
      table(['at', 'answer', 'what came of it', 'took'], tries),
      JSON.stringify(view.body, null, 2).split('\n').map(plain).join('\n'),
      '',
    ].join('\n');
  });
  return EXIT.ok;
}

async function the(world: World, id: string): Promise<NotificationRow> {
  const found = await world.get(Notifications).one(id);
  if (found !== null) return found;
  const todo = '`crossbill notifications` lists them.';
  throw new CliError(EXIT.failed, 'not_found', `There is no notification ${plain(id)}. ${todo}`);
}

async function replay(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const all = cli.options['allDead'] === true;
  if (all === (args[0] !== undefined)) {
    throw new CliError(EXIT.usage, 'argument', 'Name one notification, or use --all-dead.');
  }
  const world = await cli.open();
  const ids = all ? await allDead(world) : [(await the(world, need(args))).id];
  for (const id of ids) await world.change('notification.replay', id, () => world.get(Notifications).replay(id));
  await cli.print({ replayed: ids }, () =>
    ids.length === 0
      ? 'None was given up on.\n'
      : `Queued to be sent again: ${ids.join(', ')}. A running daemon does it within a second.\n`,
  );
  return EXIT.ok;
}

async function allDead(world: World): Promise<readonly string[]> {
  const ids: string[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await world.get(Notifications).list({ status: 'dead' }, { limit: 100, cursor });
    ids.push(...page.data.map((n) => n.id));
    if (page.nextCursor === null) return ids;
    cursor = page.nextCursor;
  }
}

/** Until the person ends it. Each is sent on once; what the local program answers is printed and tried no more. */
async function listen(cli: Cli): Promise<number> {
  const world = await cli.open();
  const { notifyUrl, notifySecrets } = world.config;
  if (notifyUrl === null) {
    const todo = 'Set NOTIFY_URL for the daemon: an address of this machine will do, such as http://127.0.0.1:9/none.';
    throw new CliError(EXIT.config, 'notify_url', `NOTIFY_URL is not set, so there is nothing to show. ${todo}`);
  }
  const store = world.get(Notifications);
  const secrets = notifySecrets.length > 0 ? notifySecrets : [newSecret()];
  const url = cli.options['forward'] as string | undefined;
  const forward =
    url === undefined ? null : new HttpReceiver(new Secret(url), secrets, { proxies: world.config.proxies });
  if (forward !== null && notifySecrets.length === 0)
    cli.io.err(`NOTIFY_SECRETS is not set; signed with a secret made for this call: ${secrets[0]?.reveal() ?? ''}\n`);
  cli.io.err('Listening. Ctrl-C ends it.\n');
  try {
    const seen = new Set<string>();
    let from = (cli.options['since'] as Date | undefined) ?? (await store.time());
    const begin = from;
    while (!cli.io.signal.aborted) {
      const found = await store.since(from);
      for (const n of found) {
        if (seen.has(n.id) || n.at < begin) continue;
        seen.add(n.id);
        const sent = forward === null ? null : await forward.send(n, await store.time());
        const answer = sent === null ? null : (sent.why ?? `${sent.status ?? ''} in ${sent.elapsedMs} ms`);
        const view = { ...notificationWithTriesView(n), ...(sent === null ? {} : { forwarded: answer }) };
        await cli.print(view, () => lineOf(n, answer));
      }
      const newest = found.at(-1)?.at ?? from;
      // A full page is behind: it goes on from its end, or it would never leave a crowd of one moment.
      const overlap = found.length < LISTED_AT_ONCE ? OVERLAP_MS : 0;
      from = new Date(Math.max(begin.getTime(), newest.getTime() - overlap));
      await world.get(Clock).sleep(LOOK_EVERY_MS, cli.io.signal);
    }
  } finally {
    await forward?.close();
  }
  return EXIT.ok;
}

function lineOf(n: NotificationRow, answer: string | null): string {
  const forwarded = answer === null ? '' : `  -> ${answer}`;
  return `${time(n.at)}  ${n.type.padEnd(23)}  ${n.id}${plain(forwarded)}\n  ${plain(n.body)}\n`;
}

async function trigger(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const type = typeOf(need(args));
  const world = await cli.open();
  const { notifyUrl, notifySecrets, notifyFormat, proxies } = world.config;
  if (notifyUrl === null)
    throw new CliError(EXIT.config, 'notify_url', 'NOTIFY_URL is not set: there is no address to send a sample to.');
  const store = world.get(Notifications);
  const at = await store.time();
  const sample = putDown(sampleOf(type, `sample ${randomBytes(8).toString('hex')}`), notifyFormat, at);
  const receiver = new HttpReceiver(notifyUrl, notifySecrets, { proxies });
  try {
    const sent = await receiver.send(sample, at);
    if (sent.outcome === 'delivered') await store.markGone(false);
    await cli.print({ id: sample.id, type, ...sent, body: sample.body }, () =>
      sent.outcome === 'delivered'
        ? `Delivered ${sample.id}: it answered ${sent.status ?? ''} in ${sent.elapsedMs} ms.\n`
        : `Not delivered: ${plain(sent.why ?? '')}.\n`,
    );
    return sent.outcome === 'delivered' ? EXIT.ok : EXIT.failed;
  } finally {
    await receiver.close();
  }
}

function typeOf(text: string): NotificationType {
  const type = NOTIFICATION_TYPES.find((t) => t === text);
  if (type === undefined)
    throw new CliError(
      EXIT.usage,
      'argument',
      `There is no type ${plain(text)}. Use one of ${NOTIFICATION_TYPES.join(', ')}.`,
    );
  return type;
}

/** Never the internet: these are somebody's customers. */
function localUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || !isPrivateHost(url.href) || isForbiddenAddress(url.hostname))
    throw new InvalidArgumentError(
      'Use an address of this machine or the private network, such as http://127.0.0.1:3001/hook',
    );
  return url.href;
}

const newSecret = (): Secret => new Secret(`whsec_${randomBytes(32).toString('base64')}`);

// `crossbill notifications`, `listen` and `trigger`: show the notifications to the merchant's backend, send them again,
// and try them out.
import { randomBytes } from 'node:crypto';
import { InvalidArgumentError } from '@commander-js/extra-typings';
import { given } from '../../frames/api/http/page.js';
import { isForbiddenAddress } from '../../shared/config/addresses.js';
import { Secret } from '../../shared/config/index.js';
import { isPrivateHost } from '../../shared/config/kinds.js';
import { NOTIFICATION_TYPES, sampleOf, putDown } from './rules/all.js';
import { Clock } from '../../shared/domain/ports/clock.js';
import {
  LISTED_AT_ONCE,
  NOTIFICATION_STATUSES,
  type NotificationRow,
  Notifications,
} from '../../frames/store/notifications.js';
import { notificationFields } from './notification.fields.js';
import { notificationWithTriesView } from './notification.view.js';
import { NotificationsController } from './notifications.controller.js';
import { HttpReceiver } from './receiver.js';
import { allPages, type Cli } from '../../frames/cli/cli.js';
import { type Commands } from '../../frames/cli/commands.js';
import { CliError, EXIT, wrongUsage } from '../../frames/cli/exit-codes.js';
import { oneOf, parseSince } from '../../frames/cli/options.js';
import { plain, table, time } from '../../frames/cli/table.js';
import { type AppContext } from '../../frames/cli/app-context.js';

const POLL_MS = 500;
/**
 * Each read starts this long before the newest row of the previous read. A database statement may take 20 s, so a row
 * with an earlier time may appear after a row with a later time. Without the overlap the command would miss the late
 * row.
 */
const OVERLAP_MS = 20_000;

export function addNotifications(on: Commands): void {
  const group = on.group('notifications', on.about);
  group
    .addList('list', 'notifications, newest first', true)
    .option('--status <status>', 'pending, delivered or dead', oneOf(NOTIFICATION_STATUSES))
    .option('--type <type>', 'only this type', oneOf(NOTIFICATION_TYPES))
    .action(
      on.run(async (cli, { status, type, limit, cursor }) => {
        const query = given({ status, type, limit, cursor });
        await cli.printPage(await (await cli.open()).get(NotificationsController).list(query), notificationFields);
      }),
    );
  group.add('show <notification>', 'one notification with its tries and its body').action(
    on.run(async (cli, id) => {
      const view = await (await cli.open()).get(NotificationsController).one(id);
      await cli.print(view, () => {
        const rows = view.tries.map((t) => [
          t.at,
          String(t.status ?? '-'),
          t.error ?? 'delivered',
          `${t.elapsed_ms} ms`,
        ]);
        const body = JSON.stringify(view.body, null, 2).split('\n').map(plain).join('\n');
        const head = `${view.type} ${view.id}, ${view.status}, next try ${view.next_try_at ?? '-'}\n`;
        return `${head}\n${table(['at', 'answer', 'result', 'took'], rows)}\n${body}\n`;
      });
    }),
  );
  group
    .add('replay [notification]', 'send a notification again: the same id, the same bytes')
    .option('--all-dead', 'all dead notifications')
    .action(
      on.run(async (cli, id, { allDead }) => {
        if ((allDead === true) === (id !== undefined)) throw wrongUsage('Name one notification, or use --all-dead.');
        const app = await cli.open();
        const route = app.get(NotificationsController);
        const dead = id === undefined ? await allPages((query) => route.list({ status: 'dead', ...query })) : [];
        const replayed = id === undefined ? dead.map((n) => n.id) : [id];
        for (const one of replayed) await app.change('notification.replay', one, () => route.replay(one));
        await cli.print({ replayed }, () =>
          replayed.length === 0
            ? 'No notification is dead.\n'
            : `Queued for another delivery: ${replayed.join(', ')}. A running daemon sends it within a second.\n`,
        );
      }),
    );
}

export function addListen(on: Commands): void {
  on.add('listen', on.about)
    .option('--forward <url>', 'an address of this machine or the private network', localUrl)
    .option('--since <when>', 'begin earlier: a past date, or a span such as 1h', parseSince)
    .action(on.run((cli, { forward, since }) => listen(cli, forward, since)));
}

export function addTrigger(on: Commands): void {
  on.add('trigger <type>', on.about).action(
    on.run(async (cli, word) => {
      const type = NOTIFICATION_TYPES.find((t) => t === word);
      if (type === undefined)
        throw wrongUsage(`There is no notification type ${plain(word)}. Use one of ${NOTIFICATION_TYPES.join(', ')}.`);
      const app = await cli.open();
      const { notifySecrets, proxies } = app.config;
      const receiver = new HttpReceiver(notifyUrlOf(app), notifySecrets, { proxies });
      const store = app.get(Notifications);
      const at = await store.time();
      const { id, body } = putDown(sampleOf(type, `sample ${randomBytes(8).toString('hex')}`), app.config, at);
      const sent = await receiver.send({ id, body }, at).finally(() => receiver.close());
      const delivered = sent.outcome === 'delivered';
      if (delivered) await store.markGone(false);
      await cli.print({ id, type, ...sent, body }, () =>
        delivered
          ? `Delivered ${id}: the receiver answered ${sent.status ?? ''} in ${sent.elapsedMs} ms.\n`
          : `Not delivered: ${plain(sent.why ?? '')}.\n`,
      );
      return delivered ? EXIT.ok : EXIT.failed;
    }),
  );
}

function notifyUrlOf({ config }: AppContext): Secret {
  if (config.notifyUrl !== null) return config.notifyUrl;
  const todo = 'Set it for the daemon: an address of this machine will do, such as http://127.0.0.1:9/none.';
  throw new CliError(EXIT.config, 'notify_url', `NOTIFY_URL is not set, so there are no notifications. ${todo}`);
}

/** Prints each new notification and forwards it to the local program, until the operator stops the command. */
async function listen(cli: Cli, url: string | undefined, since: Date | undefined): Promise<void> {
  const app = await cli.open();
  notifyUrlOf(app);
  const { notifySecrets, proxies } = app.config;
  const store = app.get(Notifications);
  const secrets =
    notifySecrets.length > 0 ? notifySecrets : [new Secret(`whsec_${randomBytes(32).toString('base64')}`)];
  const forward = url === undefined ? null : new HttpReceiver(new Secret(url), secrets, { proxies });
  if (forward !== null && notifySecrets.length === 0)
    cli.io.err(`NOTIFY_SECRETS is not set. Crossbill signs with a new secret: ${secrets[0]?.reveal() ?? ''}\n`);
  const begin = since ?? (await store.time());
  cli.io.err('Listening. Ctrl-C ends it.\n');
  try {
    const seen = new Set<string>();
    for (let from = begin; !cli.io.signal.aborted;) {
      const found = await store.since(from);
      for (const n of found) {
        if (seen.has(n.id) || n.at < begin) continue;
        seen.add(n.id);
        const sent = forward === null ? null : await forward.send(n, await store.time());
        const reply = sent === null ? null : (sent.why ?? `${sent.status ?? ''} in ${sent.elapsedMs} ms`);
        const view = { ...notificationWithTriesView(n), ...(reply === null ? {} : { forwarded: reply }) };
        await cli.print(view, () => lineOf(n, reply));
      }
      const newest = found.at(-1)?.at ?? from;
      // After a full page more notifications wait, so the next read begins at the page's end. With an overlap the
      // command could read the same full page for ever.
      const overlap = found.length < LISTED_AT_ONCE ? OVERLAP_MS : 0;
      from = new Date(Math.max(begin.getTime(), newest.getTime() - overlap));
      await app.get(Clock).sleep(POLL_MS, cli.io.signal);
    }
  } finally {
    await forward?.close();
  }
}

function lineOf(notification: NotificationRow, reply: string | null): string {
  const forwarded = reply === null ? '' : `  -> ${reply}`;
  return `${time(notification.at)}  ${notification.type.padEnd(23)}  ${notification.id}${plain(forwarded)}\n  ${plain(notification.body)}\n`;
}

/** Accepts only an address of this machine or the private network: the notifications are about real customers. */
function localUrl(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url !== null && /^https?:$/.test(url.protocol) && isPrivateHost(url.href) && !isForbiddenAddress(url.hostname))
    return url.href;
  const how = 'Use an address of this machine or the private network, such as http://127.0.0.1:3001/hook';
  throw new InvalidArgumentError(how);
}

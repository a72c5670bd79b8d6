// `crossbill events`: shows the inbox and the quarantine, and carries out an operator's decision about an event.
import { given } from '../api/http/page.js';
import {
  EVENT_SOURCES,
  EVENT_STATUSES,
  type EventView,
  eventView,
  eventWithBodyView,
} from '../../core/events/event.view.js';
import { EventsController } from '../../core/events/events.controller.js';
import { EventsService } from '../../core/events/events.service.js';
import { type EventRow } from '../../core/events/event-list.repository.js';
import { EventsRepository } from '../../core/events/events.repository.js';
import { rawBody } from '../../shared/masks/event-body.js';
import { type Cli, columns } from './cli.js';
import { type Commands } from './commands.js';
import { explainError } from './errors.js';
import { EXIT, unknown, wrongUsage } from './exit-codes.js';
import { oneOf, parseLine } from './options.js';
import { plain } from './table.js';
import { type AppContext } from './app-context.js';

const COLUMNS = columns<EventView>('id', 'received_at', 'source', 'type', 'status', 'event_id', 'reason', 'note');

export function addEvents(on: Commands): void {
  const events = on.group('events', on.about);
  events
    .addList('list', 'events, newest first', true)
    .option('--source <source>', 'stripe, mor_payments, mor_events or crossbill', oneOf(EVENT_SOURCES))
    .option('--status <status>', 'received, done, ignored, parked or quarantined', oneOf(EVENT_STATUSES))
    .option('--type <type>', "the sender's event type")
    .option('--event-id <id>', "the sender's event id")
    .action(
      on.run(async (cli, { source, status, type, eventId, limit, cursor }) => {
        const query = given({ source, status, type, event_id: eventId, limit, cursor });
        await cli.printPage(await (await cli.open()).get(EventsController).list(query), COLUMNS);
      }),
    );
  events
    .add('show <event>', 'one event with its body; by Crossbill’s id (ie_…, iq_…) or the sender’s')
    .option('--raw', 'the body as it came, personal data included; secrets stay hidden')
    .action(
      on.run(async (cli, id, { raw }) => {
        const event = await findEvent(await cli.open(), id);
        const view = eventWithBodyView(event);
        const shown = raw === true && event.body !== null ? { ...view, body: rawBody(event.body) } : view;
        await cli.print(shown, () => render(shown));
      }),
    );
  events
    .add('retry [event]', 'decide an event again; nothing is done twice')
    .option('--all-parked', 'every parked event')
    .action(on.run((cli, id, { allParked }) => retryEvents(cli, id, allParked)));
  events
    .add('dismiss <event>', 'close a parked event: Crossbill ignores it and keeps the note')
    .requiredOption('--note <text>', 'why', parseLine(400))
    .action(
      on.run(async (cli, given, { note }) => {
        const app = await cli.open();
        const { id } = await findEvent(app, given);
        const work = () => app.get(EventsService).dismiss(id, note, cli.by);
        const done = await app.change('event.dismiss', id, work);
        await cli.print(eventView(done), () => `Dismissed ${id}.\n`);
      }),
    );
}

/** Decides one event again, or all parked events. */
export async function retryEvents(cli: Cli, id: string | undefined, all = false): Promise<number> {
  if (all === (id !== undefined)) throw wrongUsage('Name one event, or use --all-parked.');
  const app = await cli.open();
  const ids = id === undefined ? await parkedEvents(app) : [(await findEvent(app, id)).id];
  const retried: string[] = [];
  const refused: { readonly id: string; readonly why: string }[] = [];
  for (const one of ids) {
    try {
      retried.push((await app.change('event.retry', one, () => app.get(EventsService).retry(one))).id);
    } catch (e) {
      const { exitCode, message } = explainError(e);
      if (exitCode !== EXIT.failed) throw e;
      refused.push({ id: one, why: message });
    }
  }
  await cli.print({ retried, refused }, () => {
    if (ids.length === 0) return 'No event is parked.\n';
    const queued = `Queued for another decision: ${retried.join(', ')}. A running daemon takes it within a second.\n`;
    const left = refused.map((r) => `Not possible: ${r.id}. ${r.why}\n`).join('');
    return (retried.length === 0 ? '' : queued) + left;
  });
  return refused.length > 0 ? EXIT.failed : EXIT.ok;
}

/** Finds the event with this id of Crossbill. If there is none: the newest event with this id of the sender. */
async function findEvent(app: AppContext, id: string): Promise<EventRow & { readonly body: Buffer | null }> {
  const events = app.get(EventsRepository);
  const [newest] = (await events.list({ eventId: id }, { limit: 1, cursor: null })).data;
  const event = (await events.find(id)) ?? (newest === undefined ? null : await events.find(newest.id));
  if (event === null) throw unknown(`There is no event ${id}. \`crossbill events list\` shows all of them.`);
  return event;
}

async function parkedEvents(app: AppContext): Promise<string[]> {
  const ids: string[] = [];
  for (let after = 0n; ;) {
    const page = await app.get(EventsRepository).parked(after, 500);
    ids.push(...page.map((id) => `ie_${id}`));
    const last = page.at(-1);
    if (last === undefined) return ids;
    after = last;
  }
}

function render({ body, ...facts }: { readonly body: unknown }): string {
  const lines = Object.entries<unknown>(facts).flatMap(([name, value]) =>
    value === undefined || value === null
      ? []
      : [`${name.padEnd(12)} ${plain(typeof value === 'string' ? value : JSON.stringify(value))}\n`],
  );
  const text = body === null ? '' : `\n${JSON.stringify(body, null, 2).split('\n').map(plain).join('\n')}\n`;
  return lines.join('') + text;
}

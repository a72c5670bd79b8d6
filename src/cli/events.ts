// `crossbill events`, and `crossbill retry` of an event: the inbox and the quarantine, and deciding an event once more.
import { type Command } from 'commander';
import { EVENT_SOURCES, EVENT_STATUSES } from '../events/event.view.js';
import { type EventRow, EventsStore } from '../events/events.store.js';
import { CliError, EXIT } from './exit-codes.js';
import { type Action, type Cli, need, oneOf, parseCount, type Session } from './session.js';
import { plain, table, time } from './table.js';
import { isInvoiceId, retryInvoice } from './retry.js';
import { withoutPersonalData } from './redacted-body.js';
import { actorOf, type World } from './world.js';

/** A reason stands in one line of a list. */
const MOST_NOTE = 400;

export function addEvents(program: Command, session: Session): void {
  const events = program
    .command('events')
    .description('the inbox: every authentic delivery, and what is in quarantine');
  session
    .leaf(events, 'list', 'events, newest first', list, true)
    .option('--source <source>', 'stripe, mor_payments, mor_events or crossbill', oneOf(EVENT_SOURCES))
    .option('--status <status>', 'received, done, ignored, parked or quarantined', oneOf(EVENT_STATUSES))
    .option('--type <type>', "the sender's event type")
    .option('--event-id <id>', "the sender's event id")
    .option('--limit <n>', 'how many to list', parseCount(100), 20)
    .option('--cursor <cursor>', 'continue after this cursor');
  session
    .leaf(events, 'show <event>', 'one event with its body; by our id (ie_…, iq_…) or the sender’s', show)
    .option('--raw', 'the body as it came, personal data included; secrets stay hidden');
  session
    .leaf(events, 'retry [event]', 'decide an event again; nothing is done twice', retry)
    .option('--all-parked', 'every parked event');
  session
    .leaf(
      events,
      'dismiss <event>',
      'close a parked event for good: it is ignored, with the note as its reason',
      dismiss,
    )
    .option('--note <text>', 'why; needed');
  session
    .leaf(
      program,
      'retry [id]',
      'try a failed renewal again (in_…), or decide an event again, as `events retry` does',
      retryEither,
    )
    .option('--all-parked', 'every parked event')
    .option('--key <text>', 'for an invoice: the same key never tries twice; default: a new retry')
    .option('--yes', 'for an invoice: do not ask for confirmation');
}

function view(e: EventRow): Record<string, unknown> {
  const { id, source, type, lane, status, reason, attempts } = e;
  return {
    id,
    source,
    event_id: e.eventId,
    type,
    lane,
    status,
    reason,
    attempts,
    received_at: e.receivedAt,
    decided_at: e.decidedAt,
  };
}

async function list(cli: Cli): Promise<number> {
  const world = await cli.open();
  const o: Record<string, unknown> = cli.options;
  const filter = Object.fromEntries(
    (['source', 'status', 'type', 'eventId'] as const).flatMap((name) =>
      typeof o[name] === 'string' ? [[name, o[name]]] : [],
    ),
  ) as Record<string, string>;
  const cursor = typeof o['cursor'] === 'string' ? o['cursor'] : null;
  const page = await world.get(EventsStore).list(filter, { limit: o['limit'] as number, cursor });
  const next = page.nextCursor === null ? {} : { next_cursor: page.nextCursor };
  await cli.print({ data: page.data.map(view), ...next }, () => {
    const rows = page.data.map((e) => [e.id, time(e.receivedAt), e.source, e.type, e.status, e.lane, e.reason ?? '']);
    const more = page.nextCursor === null ? '' : `more: --cursor ${page.nextCursor}\n`;
    return table(['id', 'received', 'source', 'type', 'status', 'about', 'reason'], rows) + more;
  });
  return EXIT.ok;
}

/** By our id, else by the sender's: the newest of that name. */
async function find(world: World, id: string): Promise<EventRow & { readonly body: Buffer | null }> {
  const own = await world.get(EventsStore).find(id);
  if (own !== null) return own;
  const [named] = (await world.get(EventsStore).list({ eventId: id }, { limit: 1, cursor: null })).data;
  const event = named === undefined ? null : await world.get(EventsStore).find(named.id);
  if (event === null)
    throw new CliError(
      EXIT.failed,
      'not_found',
      `There is no event ${id}. \`crossbill events list\` shows what there is.`,
    );
  return event;
}

async function show(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const event = await find(await cli.open(), need(args));
  const body = event.body === null ? null : withoutPersonalData(event.body, cli.options['raw'] === true);
  await cli.print({ ...view(event), body }, () => {
    const lines = Object.entries(view(event)).map(([name, v]) => {
      const shown = v instanceof Date ? time(v) : typeof v === 'string' || typeof v === 'number' ? String(v) : '-';
      return `${name.padEnd(12)} ${plain(shown)}`;
    });
    const text =
      body === null
        ? 'The body was purged or erased.'
        : JSON.stringify(body, null, 2).split('\n').map(plain).join('\n');
    return `${lines.join('\n')}\n\n${text}\n`;
  });
  return EXIT.ok;
}

/** The id says which: no event of ours or of the senders' is called `in_…`. */
function retryEither(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const [id] = args;
  if (id === undefined || !isInvoiceId(id)) return retry(cli, args);
  if (cli.options['allParked'] === true)
    throw new CliError(EXIT.usage, 'argument', '--all-parked is for events: name an invoice, or use it alone.');
  return retryInvoice(cli, id);
}

async function retry(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const all = cli.options['allParked'] === true;
  if (all === (args[0] !== undefined)) {
    throw new CliError(EXIT.usage, 'argument', 'Name one event, or use --all-parked.');
  }
  const world = await cli.open();
  const ids = all ? await allParked(world) : [(await find(world, need(args))).id];
  const retried: string[] = [];
  const refused: string[] = [];
  for (const id of ids) {
    const again = await world.change(
      'event.retry',
      id,
      () => world.get(EventsStore).retry(id),
      (taken) => ({ detail: { taken: taken !== null } }),
    );
    if (again === null) refused.push(id);
    else retried.push(again);
  }
  await cli.print({ retried, refused }, () => {
    const taken =
      retried.length === 0
        ? ''
        : `Queued to be decided again: ${retried.join(', ')}. A running daemon does it within a second.\n`;
    const left =
      refused.length === 0
        ? ''
        : `Not possible: ${refused.join(', ')} (its body is gone, or it contradicts an event that was applied).\n`;
    return taken + left || 'No event is parked.\n';
  });
  return refused.length > 0 ? EXIT.failed : EXIT.ok;
}

async function dismiss(cli: Cli, args: Parameters<Action>[1]): Promise<number> {
  const note = typeof cli.options['note'] === 'string' ? cli.options['note'].trim() : '';
  if (note === '' || note.length > MOST_NOTE)
    throw new CliError(EXIT.usage, 'note_required', `--note <why> is needed, of at most ${MOST_NOTE} characters`);
  const world = await cli.open();
  const event = await find(world, need(args));
  const why = `dismissed by ${actorOf(cli.io)}: ${note}`;
  const done = await world.change('event.dismiss', event.id, () => world.get(EventsStore).dismiss(event.id, why));
  if (!done)
    throw new CliError(
      EXIT.failed,
      'event_not_parked',
      `This event is ${event.status}: only a parked one can be dismissed.`,
    );
  await cli.print({ dismissed: event.id }, () => `Dismissed ${event.id}.\n`);
  return EXIT.ok;
}

async function allParked(world: World): Promise<string[]> {
  const events = world.get(EventsStore);
  const ids: string[] = [];
  for (let after = 0n; ;) {
    const page = await events.parked(after, 500);
    ids.push(...page.map((id) => `ie_${id}`));
    const last = page.at(-1);
    if (last === undefined) return ids;
    after = last;
  }
}

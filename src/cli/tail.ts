// `crossbill tail`: events as they come in, until Ctrl-C.
import { type Command } from 'commander';
import { Books, type EventFilter, type EventRow } from '../domain/ports/books.js';
import { Clock } from '../domain/ports/clock.js';
import { EVENT_SOURCES, eventView } from '../events/event.view.js';
import { EXIT } from './exit-codes.js';
import { type Cli, oneOf, parseCount, type Session } from './session.js';
import { plain, time } from './table.js';

const LOOK_EVERY_MS = 500;
/** The largest page. An event that another replica stored a moment ago may take its place below newer ones: all of a page is looked at. */
const PAGE = 100;

export function addTail(program: Command, session: Session): void {
  session
    .leaf(program, 'tail', 'show events as they come in, until Ctrl-C', tail)
    .option('--source <source>', 'stripe, mor_payments or mor_events', oneOf(EVENT_SOURCES))
    .option('--type <type>', "the sender's event type")
    .option('--last <n>', 'first show so many that are there already', parseCount(PAGE));
}

async function tail(cli: Cli): Promise<number> {
  const world = await cli.open();
  const books = world.get(Books);
  const { source, type, last = 0 } = cli.options as { readonly source?: string; readonly type?: string; last?: number };
  const filter: EventFilter = { source, type };
  const { data } = await books.events(filter, { limit: PAGE, cursor: null });
  await show(cli, data.slice(0, last));
  cli.io.err('Waiting for events. Ctrl-C ends it.\n');
  for (let seen = idsOf(data); !cli.io.signal.aborted;) {
    const { rows, ids } = await unseen(books, filter, seen);
    await show(cli, rows);
    seen = ids;
    await world.get(Clock).sleep(LOOK_EVERY_MS, cli.io.signal);
  }
  return EXIT.ok;
}

/** Page by page until one has something that was seen. */
async function unseen(
  books: Books,
  filter: EventFilter,
  seen: ReadonlySet<string>,
): Promise<{ readonly rows: readonly EventRow[]; readonly ids: ReadonlySet<string> }> {
  const read: EventRow[] = [];
  for (let cursor: string | null = null; ;) {
    const page = await books.events(filter, { limit: PAGE, cursor });
    read.push(...page.data);
    cursor = page.nextCursor;
    if (cursor === null || page.data.some((e) => seen.has(e.id))) break;
  }
  return { rows: read.filter((e) => !seen.has(e.id)), ids: idsOf(read) };
}

const idsOf = (rows: readonly EventRow[]): ReadonlySet<string> => new Set(rows.map((e) => e.id));

/** The newest first comes in, the newest last goes out. */
async function show(cli: Cli, newestFirst: readonly EventRow[]): Promise<void> {
  for (const e of newestFirst.toReversed()) {
    const line = [time(e.receivedAt), e.source.padEnd(12), e.type.padEnd(32), e.lane, e.id].map(plain).join('  ');
    await cli.print({ ...eventView(e), lane: e.lane }, () => `${line}\n`);
  }
}

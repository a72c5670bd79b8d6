// Searches the stored bodies of events, and the copies in quarantine, for ids of a customer.
import { type InboxSource } from '../shared/domain/ports/inbox.js';
import { type Database } from '../frames/store/database.js';

const BATCH = 2_000;

/** An SQL condition: the body contains one of the ids in `$n`. */
const named = (count: number): string =>
  `exists (select 1 from unnest($${count}::text[]) as name where position(convert_to('"' || name || '"', 'UTF8') in body) > 0)`;

/**
 * The body names the customer, or it lies in no invoice's lane and names something of the customer: for example a
 * dispute that Crossbill could not read.
 */
const NAMES_ONE = `(${named(3)} or (lane ~ '^(event|mor|item):' and ${named(4)}))`;

const SEARCHES = {
  inbox_event: `select e.id, e.source, e.event_id from inbox_event e join event_body b on b.event_id = e.id
    where b.event_id >= $1 and b.event_id < $2 and ${NAMES_ONE}`,
  inbox_quarantine: `select id, source, event_id from inbox_quarantine
    where id >= $1 and id < $2 and body is not null and ${NAMES_ONE}`,
} as const;
export type Inbox = keyof typeof SEARCHES;

/** An event, or a copy in quarantine, with one of the customer's ids in its body. */
export type Named = { readonly id: string; readonly source: InboxSource; readonly event_id: string };

/**
 * The events, and the copies in quarantine, with one of these names in their bodies. `things`: ids that count only
 * outside the lanes of invoices. Reads all bodies.
 */
export async function bodiesNaming(
  db: Database,
  names: readonly string[],
  things: readonly string[],
): Promise<{ readonly events: readonly Named[]; readonly copies: readonly Named[] }> {
  const search = async (inbox: Inbox): Promise<readonly Named[]> => {
    const found: Named[] = [];
    await walkIds(db, inbox, async (from, to) => {
      found.push(...(await db.pool.query<Named>(SEARCHES[inbox], [from, to, names, things])).rows);
    });
    return found;
  };
  return { events: await search('inbox_event'), copies: await search('inbox_quarantine') };
}

/**
 * Goes through a table in short ranges of ids, oldest row first. Each step reads only its own rows, so its statement
 * stays far below its time limit.
 */
export async function walkIds(
  db: Database,
  inbox: Inbox,
  step: (from: string, to: string) => Promise<void>,
): Promise<void> {
  const bounds = await db.pool.query<{ first: string | null; last: string | null }>(
    `select min(id) as first, max(id) as last from ${inbox}`,
  );
  const last = BigInt(bounds.rows[0]?.last ?? '0');
  for (let from = BigInt(bounds.rows[0]?.first ?? '1'); from <= last; from += BigInt(BATCH))
    await step(from.toString(), (from + BigInt(BATCH)).toString());
}

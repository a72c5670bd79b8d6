// The ledger from its first entry to its last, in pages, for an export of any length.
import { type LedgerRow } from '../domain/ports/books.js';
import { type Database } from './database.js';
import { ledgerRow } from './ledger-queries.js';

type Row = Record<string, unknown>;

const PAGE = 1_000;

/** How many entries an export writes at least. */
export async function countLedger(db: Database, since: Date | null): Promise<number> {
  const found = await db.pool.query<{ n: string }>(
    'select count(*) as n from ledger_entry where $1::timestamptz is null or recorded_at >= $1',
    [since],
  );
  return Number(found.rows[0]?.n ?? 0);
}

/** Oldest first. Entries recorded while it runs come too, as far as they are committed when their page is read. */
export async function* ledgerEntries(db: Database, since: Date | null): AsyncGenerator<readonly LedgerRow[]> {
  for (let after = '0'; ;) {
    const found = await db.pool.query<Row>(
      `select l.*, coalesce(p.payment_id, p.id) as public_payment_id from ledger_entry l left join payment p on p.id = l.payment_row_id
        where l.id > $1 and ($2::timestamptz is null or l.recorded_at >= $2) order by l.id limit $3`,
      [after, since, PAGE],
    );
    if (found.rows.length > 0) yield found.rows.map(ledgerRow);
    if (found.rows.length < PAGE) return;
    after = found.rows.at(-1)?.['id'] as string;
  }
}

// The ledger from its first entry to its last, in pages, for an export of any length.
import { MoreThan, MoreThanOrEqual } from 'typeorm';
import { type LedgerRow } from '../domain/ports/books.js';
import { type Database } from './database.js';
import { LedgerEntryEntity } from './entities/ledger-entry.entity.js';
import { ledgerRows } from './ledger-queries.js';

const PAGE = 1_000;

const from = (since: Date | null) => (since === null ? {} : { recordedAt: MoreThanOrEqual(since) });

/** How many entries an export writes at least. */
export function countLedger(db: Database, since: Date | null): Promise<number> {
  return db.orm.getRepository(LedgerEntryEntity).countBy(from(since));
}

/** Oldest first. Entries recorded while it runs come too, as far as they are committed when their page is read. */
export async function* ledgerEntries(db: Database, since: Date | null): AsyncGenerator<readonly LedgerRow[]> {
  const entries = db.orm.getRepository(LedgerEntryEntity);
  for (let after = '0'; ;) {
    const page = await entries.find({
      where: { id: MoreThan(after), ...from(since) },
      order: { id: 'ASC' },
      take: PAGE,
    });
    if (page.length > 0) yield await ledgerRows(db.orm, page);
    if (page.length < PAGE) return;
    after = page.at(-1)?.id ?? after;
  }
}

// Verify's bulk reads on the standby: what the books say about a page of Stripe's invoices and events. Everything else is asked of the primary.
import { type OurInvoice } from '../domain/difference.js';
import { type MarkLookups } from '../domain/ports/mark-lookups.js';
import { type VerifyBooks } from '../domain/ports/verify-books.js';
import { type DatabaseTime } from './database-time.js';
import { type Database } from './database.js';
import { PgVerifyBooks } from './pg-verify-books.js';
import { type PgReadSide } from './read-side.js';

/**
 * Nothing differs because the standby is behind: a read there sees all that was committed before it began, as on the primary. What goes
 * by the server's clock (`openEnds`, `atRest`) and whatever is written stays with the primary.
 */
export class VerifyBooksBeside extends PgVerifyBooks {
  private readonly bulk: Pick<VerifyBooks, 'invoices' | 'unknownEvents'>;

  constructor(
    db: Database,
    time: DatabaseTime,
    marks: MarkLookups,
    private readonly side: PgReadSide,
  ) {
    super(db, time, marks);
    this.bulk = side.routed((at) => new PgVerifyBooks(at, time, marks));
  }

  override invoices(invoiceIds: readonly string[]): Promise<readonly OurInvoice[]> {
    return this.side.read(() => this.bulk.invoices(invoiceIds));
  }

  override unknownEvents(eventIds: readonly string[]): Promise<ReadonlySet<string>> {
    return this.side.read(() => this.bulk.unknownEvents(eventIds));
  }
}

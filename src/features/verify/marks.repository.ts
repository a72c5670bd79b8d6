// The marks on Stripe and their look-up at the MoR. A run looks up a limited number of marks. Later runs repeat a
// look-up until the MoR confirms the mark.
import { Injectable } from '@nestjs/common';
import { Database } from '../../frames/store/database.js';

/** A mark on Stripe for money the MoR took. */
export type MarkedPayment = {
  /** The ledger entry of the mark. Crossbill looks up marks in the order of these entries. */
  readonly entryId: bigint;
  readonly paymentRowId: string;
  readonly paymentId: string | null;
  readonly invoiceId: string;
  /** The processor's charge id. Null for a link or proforma invoice: the MoR confirmed the money before the mark. */
  readonly chargeId: string | null;
};

/**
 * The MoR's reply about the charge. `not_ready`: the MoR knows the charge, but has not settled it or has no document
 * for it yet.
 */
export type MarkReply = 'known' | 'not_ready' | 'unknown';

/** A payment by link or proforma invoice has no charge id here: the MoR's look-up does not know its reference. */
const COLUMNS = `e.id as "entryId", e.payment_row_id as "paymentRowId", e.invoice_id as "invoiceId", p.payment_id as "paymentId",
  case when p.origin in ('renewal', 'signup') then p.processor_charge_id end as "chargeId"`;

const MARKS = `ledger_entry e join payment p on p.id = e.payment_row_id`;

@Injectable()
export class MarksRepository {
  constructor(private readonly db: Database) {}

  /**
   * Marks made since Crossbill began to look up marks, and not looked up so far, oldest first. `after`: continues after
   * this ledger entry (0n: from the start).
   */
  newer(after: bigint, limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from ${MARKS} cross join mark_lookup_reach r
        where e.id > greatest(r.newest, $1) and e.reason = 'payment_marked'
          and not exists (select 1 from mark_lookup m where m.payment_row_id = e.payment_row_id)
        order by e.id limit $2`,
      [after, limit],
    );
  }

  /** Marks made before Crossbill began to look up marks, newest first. Begins where the last run ended. */
  older(limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from ${MARKS}
        where e.id <= (select oldest from mark_lookup_reach) and e.reason = 'payment_marked' order by e.id desc limit $1`,
      [limit],
    );
  }

  /**
   * Marks with their last look-up before `before` and without the MoR's confirmation. The oldest look-up comes first.
   */
  open(before: Date, limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from mark_lookup m join payment p on p.id = m.payment_row_id join ledger_entry e on e.id = m.entry_id
        where m.answer <> 'known' and m.looked_at < $1 order by m.looked_at, m.entry_id limit $2`,
      [before, limit],
    );
  }

  async answered(mark: MarkedPayment, reply: MarkReply, at: Date): Promise<void> {
    await this.db.pool.query(
      `insert into mark_lookup (payment_row_id, invoice_id, entry_id, answer, looked_at) values ($1, $2, $3, $4, $5)
       on conflict (payment_row_id) do update set answer = excluded.answer, looked_at = excluded.looked_at`,
      [mark.paymentRowId, mark.invoiceId, mark.entryId, reply, at],
    );
  }

  /**
   * Records that verify has looked up all marks of `newer` up to this ledger entry. Leaves out entries made since
   * `settledBefore`: an entry with a smaller number may still be uncommitted.
   */
  async reachedNewer(upTo: bigint, settledBefore: Date): Promise<void> {
    await this.db.pool.query(
      `update mark_lookup_reach set newest = greatest(newest, coalesce(
         (select max(id) from ledger_entry where id > mark_lookup_reach.newest and id <= $1 and recorded_at < $2), 0))`,
      [upTo, settledBefore],
    );
    await this.forgetKnown();
  }

  /** Records that verify has looked up all marks of `older` down to this entry, `count` in number. */
  async reachedOlder(downTo: bigint, count: number): Promise<void> {
    // Two runs at once may look up the same marks. Then the second run changes nothing.
    await this.db.pool.query(
      'update mark_lookup_reach set oldest = $1 - 1, behind = greatest(0, behind - $2) where oldest >= $1',
      [downTo, count],
    );
    await this.forgetKnown();
  }

  /** Marks with a charge unknown to the MoR. */
  unknown(limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from mark_lookup m join payment p on p.id = m.payment_row_id join ledger_entry e on e.id = m.entry_id
        where m.answer = 'unknown' order by m.entry_id limit $1`,
      [limit],
    );
  }

  /** The number of marks still to look up. Counts at most `most` of the marks that `newer` lists. */
  async left(most: number): Promise<number> {
    // A count of a million rows would exceed the time limit of a statement.
    const found = await this.db.pool.query<{ n: string }>(
      `select r.behind + (
           select count(*) from (
             select from ${MARKS}
              where e.id > r.newest and e.reason = 'payment_marked' and p.origin in ('renewal', 'signup')
                and p.processor_charge_id is not null
                and not exists (select 1 from mark_lookup m where m.payment_row_id = e.payment_row_id)
              order by e.id limit $1) as waiting) as n
         from mark_lookup_reach r`,
      [most],
    );
    return Number(found.rows[0]?.n ?? 0);
  }

  /** Deletes the MoR's confirmations in the range already looked up: no later run needs them. */
  private async forgetKnown(): Promise<void> {
    await this.db.pool.query(
      `delete from mark_lookup m using mark_lookup_reach r
        where m.answer = 'known' and (m.entry_id <= r.newest and m.entry_id > r.oldest)`,
    );
  }

  private async marks(text: string, values: readonly unknown[]): Promise<readonly MarkedPayment[]> {
    type Found = Omit<MarkedPayment, 'entryId'> & { readonly entryId: string };
    const found = await this.db.pool.query<Found>(text, [...values]);
    return found.rows.map((r) => ({ ...r, entryId: BigInt(r.entryId) }));
  }
}

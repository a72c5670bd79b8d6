// The marks that the MoR has vouched for: each is looked up once, in as many runs as the budget needs.
import { Injectable } from '@nestjs/common';
import { Database } from '../store/database.js';

/** A mark on Stripe that was made for money of the MoR. */
export type MarkedPayment = {
  /** The ledger's entry of the mark: their order is that in which marks are looked up. */
  readonly entryId: bigint;
  readonly paymentRowId: string;
  readonly paymentId: string | null;
  readonly invoiceId: string;
  /** Null: a link's or a proforma invoice's, which the MoR confirmed by its own object before the mark. */
  readonly chargeId: string | null;
};

/** What the MoR answered for its charge. `not_ready`: it knows it, and has not settled it or made its document. */
export type MarkAnswer = 'known' | 'not_ready' | 'unknown';

type Row = {
  readonly entry_id: string;
  readonly payment_row_id: string;
  readonly payment_id: string | null;
  readonly invoice_id: string;
  readonly charge_id: string | null;
};

/** A payment link's and a proforma invoice's reference is of another kind: the MoR cannot be asked by it. */
const COLUMNS = `e.id as entry_id, e.payment_row_id, e.invoice_id, p.payment_id,
  case when p.origin in ('renewal', 'signup') then p.processor_charge_id end as charge_id`;

const MARKS = `ledger_entry e join payment p on p.id = e.payment_row_id`;

@Injectable()
export class MarksStore {
  constructor(private readonly db: Database) {}

  /** Marks made since the look-up began, after the entry `after` (0n: those never asked for), oldest first. */
  newer(after: bigint, limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from ${MARKS} cross join mark_lookup_reach r
        where e.id > greatest(r.newest, $1) and e.reason = 'payment_marked'
          and not exists (select 1 from mark_lookup m where m.payment_row_id = e.payment_row_id)
        order by e.id limit $2`,
      [after, limit],
    );
  }

  /** Marks of before, newest first, from where the last run stopped. */
  older(limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from ${MARKS}
        where e.id <= (select oldest from mark_lookup_reach) and e.reason = 'payment_marked' order by e.id desc limit $1`,
      [limit],
    );
  }

  /** Marks that the MoR did not know or was not ready for when it was asked before `before`, the longest ago first. */
  open(before: Date, limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from mark_lookup m join payment p on p.id = m.payment_row_id join ledger_entry e on e.id = m.entry_id
        where m.answer <> 'known' and m.looked_at < $1 order by m.looked_at, m.entry_id limit $2`,
      [before, limit],
    );
  }

  async answered(mark: MarkedPayment, answer: MarkAnswer, at: Date): Promise<void> {
    await this.db.pool.query(
      `insert into mark_lookup (payment_row_id, invoice_id, entry_id, answer, looked_at) values ($1, $2, $3, $4, $5)
       on conflict (payment_row_id) do update set answer = excluded.answer, looked_at = excluded.looked_at`,
      [mark.paymentRowId, mark.invoiceId, mark.entryId, answer, at],
    );
  }

  /** All new marks up to this entry were asked for. Those made since `settledBefore` may have company that is not written yet. */
  async reachedNewer(upTo: bigint, settledBefore: Date): Promise<void> {
    await this.db.pool.query(
      `update mark_lookup_reach set newest = greatest(newest, coalesce(
         (select max(id) from ledger_entry where id > mark_lookup_reach.newest and id <= $1 and recorded_at < $2), 0))`,
      [upTo, settledBefore],
    );
    await this.forgetKnown();
  }

  /** All old marks down to this entry were asked for: `count` of them. */
  async reachedOlder(downTo: bigint, count: number): Promise<void> {
    // Two runs at once may have asked for the same ones: who comes second moves nothing.
    await this.db.pool.query(
      'update mark_lookup_reach set oldest = $1 - 1, behind = greatest(0, behind - $2) where oldest >= $1',
      [downTo, count],
    );
    await this.forgetKnown();
  }

  /** Marks that the MoR does not know. */
  async unknown(limit: number): Promise<readonly MarkedPayment[]> {
    return this.marks(
      `select ${COLUMNS} from mark_lookup m join payment p on p.id = m.payment_row_id join ledger_entry e on e.id = m.entry_id
        where m.answer = 'unknown' order by m.entry_id limit $1`,
      [limit],
    );
  }

  /** How many are still to be looked up. Of those made since the look-up began `most` are counted. */
  async left(most: number): Promise<number> {
    // Of a million in line counting each took longer than a statement may, and ended the run.
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

  /** What lies behind is known to be known by the reach alone. */
  private async forgetKnown(): Promise<void> {
    await this.db.pool.query(
      `delete from mark_lookup m using mark_lookup_reach r
        where m.answer = 'known' and (m.entry_id <= r.newest and m.entry_id > r.oldest)`,
    );
  }

  private async marks(text: string, values: readonly unknown[]): Promise<readonly MarkedPayment[]> {
    const found = await this.db.pool.query<Row>(text, [...values]);
    return found.rows.map((r) => ({
      entryId: BigInt(r.entry_id),
      paymentRowId: r.payment_row_id,
      paymentId: r.payment_id,
      invoiceId: r.invoice_id,
      chargeId: r.charge_id,
    }));
  }
}

// Finds invoices, refunds and objects that were waiting for an event of the MoR at a given time.
import { Injectable } from '@nestjs/common';
import { type Span } from './rules/loss-window.js';
import { UNREAD_STATES } from '../../shared/domain/mor-object.js';
import { Database } from '../../frames/store/database.js';

/** An invoice without money so far. */
export type WaitingInvoice = {
  readonly seq: bigint;
  readonly invoiceId: string;
  /** True: the MoR has given no verdict. */
  readonly expected: boolean;
  /**
   * True: the last verdict is a refusal from before the end of the loss window, so a later success may be lost. A
   * refusal from after the window would prove that the MoR had not taken the money in the window.
   */
  readonly refused: boolean;
  /** The payment intents of failed attempts. */
  readonly references: readonly string[];
  /** The open item `renewal_overdue` of the invoice. Null: none. */
  readonly reviewId: string | null;
};

export type PendingRefund = {
  readonly refundId: string;
  readonly invoiceId: string;
  readonly morRefundId: string | null;
  readonly processorRefundId: string | null;
};

export type LiveObject = {
  readonly kind: 'proforma' | 'payment_link';
  readonly invoiceId: string;
  readonly morId: string;
  readonly status: string;
};

@Injectable()
export class LossRepository {
  constructor(private readonly db: Database) {}

  /**
   * Invoices in `expected` or `open`, made within `made`, by `seq`. `after`: begins after this `seq` (0n: the start).
   */
  async waitingInvoices(made: Span, after: bigint, limit: number): Promise<readonly WaitingInvoice[]> {
    const found = await this.db.pool.query<Omit<WaitingInvoice, 'seq'> & { readonly seq: string }>(
      `with waiting as materialized (
         select seq, invoice_id, status, platform_created_at, first_seen_at from invoice where status in ('expected', 'open'))
       select i.seq, i.invoice_id as "invoiceId", i.status = 'expected' as expected,
              coalesce((select max(p.verdict_at) from payment p
                where p.invoice_id = i.invoice_id and p.succeeded_at is null) < $3, false) as refused,
              coalesce((select array_agg(distinct p.processor_payment_intent_id) from payment p
                where p.invoice_id = i.invoice_id and p.succeeded_at is null
                  and p.processor_payment_intent_id is not null), '{}') as references,
              (select r.id from review r where r.invoice_id = i.invoice_id and r.kind = 'renewal_overdue' and r.status = 'open'
                order by r.seq limit 1) as "reviewId"
         from waiting i
        where i.seq > $1 and least(i.platform_created_at, i.first_seen_at) >= $2 and least(i.platform_created_at, i.first_seen_at) < $3
        order by i.seq limit $4`,
      [after, made.from, made.to, limit],
    );
    return found.rows.map((r) => ({ ...r, seq: BigInt(r.seq) }));
  }

  async pendingRefunds(before: Date): Promise<readonly PendingRefund[]> {
    const found = await this.db.pool.query<PendingRefund>(
      `select id as "refundId", invoice_id as "invoiceId", mor_refund_id as "morRefundId", processor_refund_id as "processorRefundId"
         from refund where status = 'pending' and created_at < $1 order by seq desc`,
      [before],
    );
    return found.rows;
  }

  async liveObjects(events: Span): Promise<readonly LiveObject[]> {
    // Crossbill itself sets a link to `EXPIRED`, after the deadline. The customer may have paid before the deadline.
    const found = await this.db.pool.query<LiveObject>(
      `select kind, invoice_id as "invoiceId", mor_id as "morId", status from mor_object
        where kind in ('proforma', 'payment_link') and mor_id is not null and created_at < $1
          and (status <> all ($3) or (status = 'EXPIRED' and deadline >= $2))
        order by seq desc`,
      [events.to, events.from, UNREAD_STATES],
    );
    return found.rows;
  }
}

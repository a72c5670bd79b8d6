// Invoices, refunds and objects that waited for news of the MoR at a certain time.
import { Injectable } from '@nestjs/common';
import { type Span } from './rules/loss-window.js';
import { Database } from '../store/database.js';
import { REFUND_AT } from '../store/newest-first.js';

/** An invoice that waits for money, and the references under which the MoR may know of some. */
export type WaitingInvoice = {
  readonly seq: bigint;
  readonly invoiceId: string;
  /** True: a verdict was never heard. */
  readonly expected: boolean;
  /** True: the last verdict is a refusal, of before `made` ended. Later ones would show that the MoR was not paid until then. */
  readonly refused: boolean;
  /** The payment intents of attempts that failed. */
  readonly references: readonly string[];
  /** The open item that tells a person already; null: none. */
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

/** No read brings news of these (domain/mor-object.ts). */
const ENDED = `'REQUESTED', 'UNKNOWN', 'PAID', 'EXPIRED', 'DELETED', 'REFUSED', 'REPLACED', 'ISSUANCE_FAILED', 'CANCELLED', 'SETTLED', 'INVOICED', 'BOOKED'`;

@Injectable()
export class LossStore {
  constructor(private readonly db: Database) {}

  /** Invoices made in `made` that wait for money, in their own order after `after` (0n: from the start). */
  async waitingInvoices(made: Span, after: bigint, limit: number): Promise<readonly WaitingInvoice[]> {
    const found = await this.db.pool.query<{
      seq: string;
      invoice_id: string;
      expected: boolean;
      refused: boolean;
      refs: string[] | null;
      review_id: string | null;
    }>(
      `with waiting as materialized (
         select seq, invoice_id, status, platform_created_at, first_seen_at from invoice where status in ('expected', 'open'))
       select i.seq, i.invoice_id, i.status = 'expected' as expected,
              coalesce((select max(p.verdict_at) from payment p
                where p.invoice_id = i.invoice_id and p.succeeded_at is null) < $3, false) as refused,
              (select array_agg(distinct p.processor_payment_intent_id) from payment p
                where p.invoice_id = i.invoice_id and p.succeeded_at is null and p.processor_payment_intent_id is not null) as refs,
              (select r.id from review r where r.invoice_id = i.invoice_id and r.kind = 'renewal_overdue' and r.status = 'open'
                order by r.seq limit 1) as review_id
         from waiting i
        where i.seq > $1 and least(i.platform_created_at, i.first_seen_at) >= $2 and least(i.platform_created_at, i.first_seen_at) < $3
        order by i.seq limit $4`,
      [after, made.from, made.to, limit],
    );
    return found.rows.map((r) => ({
      seq: BigInt(r.seq),
      invoiceId: r.invoice_id,
      expected: r.expected,
      refused: r.refused,
      references: r.refs ?? [],
      reviewId: r.review_id,
    }));
  }

  async pendingRefunds(before: Date, limit: number): Promise<readonly PendingRefund[]> {
    const found = await this.db.pool.query<Record<string, string | null>>(
      `select id, invoice_id, mor_refund_id, processor_refund_id from refund x
        where status = any (array['pending']) and created_at < $1 order by status, ${REFUND_AT} desc, seq desc limit $2`,
      [before, limit],
    );
    return found.rows.map((r) => ({
      refundId: r['id'] ?? '',
      invoiceId: r['invoice_id'] ?? '',
      morRefundId: r['mor_refund_id'] ?? null,
      processorRefundId: r['processor_refund_id'] ?? null,
    }));
  }

  async liveObjects(events: Span, limit: number): Promise<readonly LiveObject[]> {
    // A link runs out here by our own clock; it may have been paid before.
    const found = await this.db.pool.query<{
      kind: LiveObject['kind'];
      invoice_id: string;
      mor_id: string;
      status: string;
    }>(
      `select kind, invoice_id, mor_id, status from mor_object
        where kind in ('proforma', 'payment_link') and mor_id is not null and created_at < $1
          and (status not in (${ENDED}) or (status = 'EXPIRED' and deadline >= $2))
        order by seq desc limit $3`,
      [events.to, events.from, limit],
    );
    return found.rows.map((r) => ({ kind: r.kind, invoiceId: r.invoice_id, morId: r.mor_id, status: r.status }));
  }
}

// A customer's payment methods at the MoR: one for each signup, each later setup and each imported link.
import { Injectable } from '@nestjs/common';
import { type ConfirmedMethod } from '../../shared/domain/retry.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { CHOSEN_AT } from '../../frames/store/mor-customers.js';

export const METHOD_ORIGINS = ['signup', 'change', 'import'] as const;

export type PaymentMethod = {
  readonly customerId: string;
  /**
   * Our id of the setup, `sup_…` or `met_…`. Null: Crossbill made no setup, because a person or an import linked the
   * customer.
   */
  readonly id: string | null;
  readonly origin: (typeof METHOD_ORIGINS)[number];
  /** The id of the setup intent. Null: a payment intent saved the method, or another program did. */
  readonly setupIntentId: string | null;
  /** The id of the payment intent. Null: a setup intent saved the method, or another program did. */
  readonly paymentIntentId: string | null;
  readonly morCustomerId: string;
  readonly createdAt: Date;
  /**
   * When Crossbill learned of the confirmation. Null: not yet. A customer linked without a setup counts as confirmed.
   */
  readonly confirmedAt: Date | null;
  /**
   * Who confirmed the method: `charge` if a successful charge proves it, else the person who reported the method or
   * linked the customer. Null: nobody yet.
   */
  readonly confirmedBy: string | null;
  /**
   * True for the method the customer confirmed last: the MoR charges this one. If no method is confirmed, true for the
   * newest method.
   */
  readonly current: boolean;
};

/** A confirmed method, and the customer's unpaid invoices whose lanes do not know the method yet. */
export type Announcement = {
  readonly method: ConfirmedMethod;
  readonly invoiceIds: readonly string[];
};

export type RefusedRenewal = {
  readonly invoiceId: string;
  /** Smallest units. Null: not known yet. */
  readonly due: bigint | null;
  readonly currency: string | null;
};

type Row = {
  customer_id: string;
  id: string | null;
  kind: string;
  intent_id: string | null;
  mor_customer_id: string;
  created_at: Date;
  confirmed_at: Date | null;
  confirmed_by: string | null;
  chosen_at: Date;
};

/**
 * The SQL for the time from which a customer's invoices may use a method: the time a person reported its confirmation.
 * Without a report it is the time Crossbill learned of the confirmation in another way.
 */
const SINCE = 'coalesce(s.reported_at, s.confirmed_at)';

/**
 * The SQL condition for invoices to charge again with a newly confirmed method: their lanes must learn of the method.
 * The condition includes an invoice without a verdict, because the MoR may still refuse its charge.
 */
const WAITS = `i.customer_id = s.customer_id
  and (i.status in ('open', 'review', 'expected') and i.retries is not null or i.status = 'expected' and s.reported_at is not null)`;

const INVOICES_MOST = 100;

@Injectable()
export class PaymentMethodsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** The methods of each of these customers, newest first. */
  async of(customerIds: readonly string[]): Promise<ReadonlyMap<string, readonly PaymentMethod[]>> {
    const { rows } = await this.db.pool.query<Row>(
      `select customer_id, id, kind, intent_id, mor_customer_id, created_at, confirmed_at, confirmed_by, chosen_at
         from (select customer_id, id, kind, intent_id, mor_customer_id, created_at, confirmed_at, confirmed_by, ${CHOSEN_AT} as chosen_at, seq from signup
                where customer_id = any($1) and intent_id is not null and mor_customer_id is not null
               union all
               select customer_id, null, 'import', null, mor_customer_id, linked_at, linked_at, linked_by, linked_at, 0 from customer_link
                where customer_id = any($1) and signup_id is null) m
        order by created_at desc, seq desc`,
      [customerIds],
    );
    const found = new Map<string, Row[]>();
    for (const row of rows) found.set(row.customer_id, [...(found.get(row.customer_id) ?? []), row]);
    return new Map([...found].map(([customerId, all]) => [customerId, methodsOf(all)]));
  }

  /** The request of the customer's newest signup, as sent to the MoR. Null: none, or an erasure removed it. */
  async signupBody(customerId: string): Promise<string | null> {
    const found = await this.db.pool.query<{ body: string }>(
      `select body from signup where customer_id = $1 and kind <> 'method' and intent_id is not null and body is not null
        order by seq desc limit 1`,
      [customerId],
    );
    return found.rows[0]?.body ?? null;
  }

  /**
   * Records a report that the customer has confirmed a setup: the named one, or else the newest. A second report
   * changes nothing. Null: Crossbill made no such setup for this customer. `isNew`: no lane of an invoice knows of this
   * report yet.
   */
  async report(
    customerId: string,
    setupIntentId: string | null,
    by: string,
  ): Promise<{ readonly method: ConfirmedMethod; readonly isNew: boolean } | null> {
    const found = await this.db.pool.query<{ id: string; at: Date; by: string; is_new: boolean }>(
      `update signup s set reported_at = coalesce(s.reported_at, ${timeSql(3)}), confirmed_at = coalesce(s.confirmed_at, ${timeSql(3)}),
              confirmed_by = case when s.reported_at is null then $2 else s.confirmed_by end, tried_at = case when s.reported_at is null then null else s.tried_at end
        where s.id = (select id from signup where customer_id = $1 and intent_id is not null
                         and ($4::text is null or intent_id = $4 and kind <> 'payment') order by seq desc limit 1)
        returning s.id, s.reported_at as at, s.confirmed_by as by, s.tried_at is null as is_new`,
      [customerId, by, this.time.given(), setupIntentId],
    );
    const row = found.rows[0];
    if (row === undefined) return null;
    return { method: { id: row.id, at: row.at.toISOString(), by: row.by }, isNew: row.is_new };
  }

  /**
   * Finds confirmed methods not yet reported to the lanes of invoices, oldest first, at most `limit`. Each method comes
   * with the customer's unpaid invoices whose lanes must learn of it.
   * @param customerId null: of all customers
   */
  async unannounced(limit: number, customerId: string | null): Promise<readonly Announcement[]> {
    const found = await this.db.pool.query<{ id: string; at: Date; by: string | null; invoice_ids: string[] }>({
      name: 'unannounced_methods',
      text: `select s.id, ${SINCE} as at, case when s.reported_at is not null then s.confirmed_by end as by,
                    array(select i.invoice_id from invoice i where ${WAITS}
                           order by coalesce(i.platform_created_at, i.first_seen_at) desc limit ${INVOICES_MOST}) as invoice_ids
               from signup s
              where s.confirmed_at is not null and s.tried_at is null and ($2::text is null or s.customer_id = $2)
              order by s.seq limit $1`,
      values: [limit, customerId],
    });
    return found.rows.map(({ id, at, by, invoice_ids: invoiceIds }) => ({
      method: { id, at: at.toISOString(), by },
      invoiceIds,
    }));
  }

  /**
   * Records that the lanes of all invoices know these methods. A confirmation reported during the run stays for the
   * next run.
   */
  async announced(methods: readonly ConfirmedMethod[]): Promise<void> {
    await this.db.pool.query(
      `update signup s set tried_at = ${timeSql(3)} from unnest($1::text[], $2::timestamptz[]) as d(id, at)
        where s.id = d.id and ${SINCE} = d.at`,
      [methods.map((m) => m.id), methods.map((m) => m.at), this.time.given()],
    );
  }

  /** The customer's refused and still payable invoices, newest first. */
  async refusedRenewals(customerId: string): Promise<readonly RefusedRenewal[]> {
    const found = await this.db.pool.query<{ invoice_id: string; due: string | null; currency: string | null }>(
      `select invoice_id, amount_remaining as due, currency from invoice
        where customer_id = $1 and retries is not null and status in ('open', 'review', 'expected')
          and platform_status in ('open', 'draft', 'unknown')
        order by coalesce(platform_created_at, first_seen_at) desc, seq desc limit ${INVOICES_MOST}`,
      [customerId],
    );
    return found.rows.map(({ invoice_id: invoiceId, due, currency }) => ({
      invoiceId,
      due: due === null ? null : BigInt(due),
      currency,
    }));
  }
}

function methodsOf(rows: readonly Row[]): readonly PaymentMethod[] {
  const confirmed = rows.filter((r) => r.confirmed_at !== null);
  const current = confirmed.toSorted((a, b) => b.chosen_at.getTime() - a.chosen_at.getTime())[0] ?? rows[0];
  return rows.map((r) => ({
    customerId: r.customer_id,
    id: r.id,
    origin: r.kind === 'import' ? 'import' : r.kind === 'method' ? 'change' : 'signup',
    setupIntentId: r.kind === 'payment' ? null : r.intent_id,
    paymentIntentId: r.kind === 'payment' ? r.intent_id : null,
    morCustomerId: r.mor_customer_id,
    createdAt: r.created_at,
    confirmedAt: r.confirmed_at,
    confirmedBy: r.confirmed_by,
    current: r === current,
  }));
}

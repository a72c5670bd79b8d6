// Lists refused renewals. Partial indexes cover only the invoices with a refusal.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { UNREAD_STATES } from '../../shared/domain/mor-object.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { type Refusal } from '../../shared/domain/retry.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { InvoiceEntity } from '../../frames/store/entities.js';
import { INVOICE_AT } from '../../frames/store/newest-first.js';
import { givenOf, Parameters, sumUp, type Walk, walk, within } from '../../frames/store/walk.js';

/**
 * `planned`: Crossbill tries again at a known time. `awaiting_answer`: Crossbill asked the MoR to charge again, and has
 * no verdict yet. `payment_link`: the customer has a payment link. `ended`: the schedule is over. `collected`: the
 * money has arrived after all. `not_retried`: Crossbill tries nothing.
 */
export const RETRY_STATES = [
  'planned',
  'awaiting_answer',
  'payment_link',
  'ended',
  'collected',
  'not_retried',
] as const;

export type RetryState = (typeof RETRY_STATES)[number];

export type RetryFilter = MoneyFilter & { readonly state?: string | undefined; readonly kind?: string | undefined };

export type RetriedInvoice = { readonly invoice: InvoiceRow; readonly state: RetryState };

/** Computes a renewal's state from its status and its `retries` (shared/domain/retry.ts). */
const STATE = `case
  when i.status in ('paid', 'held', 'marking') then 'collected'
  when i.retries->>'waitingSince' is not null then 'awaiting_answer'
  when i.next_try_at is not null then 'planned'
  when i.retries->>'ended' is not null then 'ended'
  when i.status = 'open' and i.retries->'retries'->-1->>'means' = 'link' then 'payment_link'
  else 'not_retried' end`;

/**
 * The column `retried` joins state and invoice id, for example `planned in_1`. The search returns only this column, so
 * the state needs no second query.
 */
const REFUSED = `(select r.*, r.state || ' ' || r.invoice_id as retried
  from (select i.*, ${STATE} as state, i.retries->'refusal'->>'kind' as kind from invoice i) r) x`;

/** A refused renewal that stays unpaid unless a person acts. */
export type UnplannedInvoice = {
  readonly invoiceId: string;
  readonly customerId: string | null;
  /** What is left to pay, in smallest units. Null: not known. */
  readonly minor: bigint | null;
  readonly currency: string | null;
  readonly refusal: Pick<Refusal, 'at' | 'code' | 'outcome'>;
};

/**
 * True for an invoice without a next step: no charge is asked for or planned, the customer has no link and no proforma
 * invoice to pay, and the schedule ended with nothing or never began.
 */
const WITHOUT_PLAN = `x.status = 'open' and x.platform_status = 'open' and x.retries is not null and x.next_try_at is null
  and x.retries->>'waitingSince' is null and coalesce(x.retries->'ended'->>'how', 'nothing') = 'nothing'
  and not exists (select from open_call c where c.lane = x.invoice_id and c.kind = 'retry_charge' and c.status = 'pending')
  and not exists (select from mor_object o where o.invoice_id = x.invoice_id and o.kind in ('payment_link', 'proforma')
                    and (o.status = 'REQUESTED' or o.status <> all($2))
                    and (o.kind = 'proforma' or o.deadline is null or o.deadline > ${timeSql(3)}))`;

@Injectable()
export class RetriesRepository {
  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
  ) {}

  /** The newest refused renewals with nothing planned, up to `limit`. */
  async unplanned(limit: number): Promise<readonly UnplannedInvoice[]> {
    const found = await this.db.pool.query<{
      invoice_id: string;
      customer_id: string | null;
      minor: string | null;
      currency: string | null;
      refusal: Refusal;
    }>(
      `select x.invoice_id, x.customer_id, coalesce(x.amount_remaining, x.amount_due)::text as minor, x.currency,
              x.retries->'refusal' as refusal
         from invoice x where ${WITHOUT_PLAN} order by ${INVOICE_AT} desc, x.seq desc limit $1`,
      [limit, UNREAD_STATES, this.clock.given()],
    );
    return found.rows.map(({ invoice_id: invoiceId, customer_id: customerId, minor, currency, refusal }) => ({
      invoiceId,
      customerId,
      minor: minor === null ? null : BigInt(minor),
      currency,
      refusal,
    }));
  }

  /**
   * Lists the newest invoice first, by Stripe's time. With the filter `planned` the soonest next try comes first.
   * Throws BadCursor.
   */
  async list(filter: RetryFilter, page: PageRequest): Promise<Page<RetriedInvoice>> {
    const found = await walk(this.db.orm, walkOf(filter), page);
    const keys = found.data.map((key): { state: RetryState; id: string } => {
      const [state = '', ...id] = key.split(' ');
      return { state: RETRY_STATES.find((s) => s === state) ?? 'not_retried', id: id.join(' ') };
    });
    const rows = await this.db.orm.getRepository(InvoiceEntity).findBy({ invoiceId: Any(keys.map((k) => k.id)) });
    const byId = new Map(rows.map((row) => [row.invoiceId, row]));
    const data = keys.flatMap(({ state, id }) => {
      const invoice = byId.get(id);
      return invoice === undefined ? [] : [{ invoice, state }];
    });
    return { data, nextCursor: found.nextCursor };
  }

  /** The unpaid amounts of the listed invoices. */
  sums(filter: RetryFilter): Promise<SelectionSums> {
    return sumUp(this.db.orm, walkOf(filter), 'amount_remaining');
  }
}

function walkOf({ state, kind, currency, amount, customerId, ...span }: RetryFilter): Walk {
  const parameters = new Parameters();
  const planned = state === 'planned';
  const looked = givenOf({ state, kind, currency, amount_due: amount?.toString() });
  return {
    from: REFUSED,
    key: 'retried',
    number: 'seq',
    at: planned ? 'x.next_try_at' : INVOICE_AT,
    lead: [],
    where: [
      planned ? 'x.next_try_at is not null' : 'x.retries is not null',
      ...(customerId === undefined ? [] : [`x.customer_id = ${parameters.of(customerId)}`]),
      ...within(INVOICE_AT, span, parameters),
    ],
    parameters,
    looked,
    few: customerId !== undefined,
    ...(planned ? { oldestFirst: true } : {}),
  };
}

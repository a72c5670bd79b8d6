// Reads our records in bulk, for verify to compare: invoices with everything of theirs, and what the inbox lacks.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type OurInvoice } from '../../shared/domain/difference.js';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import {
  InvoiceEntity,
  MorObjectEntity,
  PaymentEntity,
  RefundEntity,
  ReviewEntity,
} from '../../frames/store/entities.js';

@Injectable()
export class RecordsRepository {
  constructor(
    private readonly db: Database,
    private readonly clock: DatabaseTime,
  ) {}

  /** Our records of these invoices, by invoice id. The oldest invoice comes first. Unknown invoices are absent. */
  async invoices(invoiceIds: readonly string[]): Promise<ReadonlyMap<string, OurInvoice>> {
    if (invoiceIds.length === 0) return new Map();
    const rows = await this.db.orm.getRepository(InvoiceEntity).find(oldestFirst(invoiceIds));
    return new Map((await this.join(rows)).map((o) => [o.invoice.invoiceId, o]));
  }

  async invoice(invoiceId: string): Promise<OurInvoice | null> {
    return (await this.invoices([invoiceId])).get(invoiceId) ?? null;
  }

  /**
   * Invoices with open work, or with a refund since `since`, by `seq`. `after`: begins after this `seq` (0: from the
   * start).
   */
  async openEnds(
    since: Date,
    after: number,
    limit: number,
  ): Promise<readonly (OurInvoice & { readonly seq: number })[]> {
    // Each part of the union uses a small index, so a finished invoice costs nothing.
    const found = await this.db.pool.query<{ invoice_id: string; seq: string }>(
      `with ends as (
         select invoice_id from invoice where status in ('held', 'marking', 'review')
         union select invoice_id from invoice where status = 'expected' and expected_by < ${timeSql(3)}
         union select invoice_id from refund where created_at >= $4 or mirror not in ('done', 'not_needed')
         union select invoice_id from payment where succeeded_at is not null and mark not in ('confirmed', 'closed'))
       select i.invoice_id, i.seq from invoice i join ends using (invoice_id) where i.seq > $1 order by i.seq limit $2`,
      [after, limit, this.clock.given(), since],
    );
    const ours = await this.invoices(found.rows.map((r) => r.invoice_id));
    return found.rows.flatMap(({ invoice_id, seq }) => {
      const own = ours.get(invoice_id);
      return own === undefined ? [] : [{ ...own, seq: Number(seq) }];
    });
  }

  /** The ids of invoices with an undecided event, or with a worker on their lane. Our rows about them will change. */
  async underWay(invoiceIds: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.db.pool.query<{ key: string }>(
      `select key from lane l where key = any($1)
          and (lease_until > ${timeSql(2)}
               or exists (select 1 from inbox_event e where e.lane = l.key and e.status = 'received'))`,
      [invoiceIds, this.clock.given()],
    );
    return new Set(found.rows.map((r) => r.key));
  }

  private async join(invoices: readonly InvoiceRow[]): Promise<OurInvoice[]> {
    const { orm } = this.db;
    const ids = invoices.map((i) => i.invoiceId);
    const theirs = oldestFirst(ids);
    const open = { ...theirs, where: { ...theirs.where, status: 'open' } } as const;
    const [payments, refunds, objects, reviews] = await Promise.all([
      orm.getRepository(PaymentEntity).find(theirs).then(byInvoice),
      orm.getRepository(RefundEntity).find(theirs).then(byInvoice),
      orm.getRepository(MorObjectEntity).find(theirs).then(byInvoice),
      orm.getRepository(ReviewEntity).find(open).then(byInvoice),
    ]);
    const sharing = await this.sharing(ids.flatMap((id) => payments(id)));
    return invoices.map((invoice) => ({
      invoice,
      payments: payments(invoice.invoiceId),
      refunds: refunds(invoice.invoiceId),
      openReviews: reviews(invoice.invoiceId),
      objects: objects(invoice.invoiceId),
      sameCharge: sharing.filter(
        (other) =>
          other.invoiceId !== invoice.invoiceId &&
          payments(invoice.invoiceId).some((p) => p.processorChargeId === other.processorChargeId),
      ),
    }));
  }

  /** All payments with the charge of one of these payments. */
  private async sharing(payments: readonly PaymentRow[]): Promise<readonly PaymentRow[]> {
    const charges = payments.flatMap((p) => p.processorChargeId ?? []);
    return this.db.orm
      .getRepository(PaymentEntity)
      .find({ where: { processorChargeId: Any(charges) }, order: { seq: 'ASC' } });
  }

  /** Returns the events of Stripe missing from the inbox. A copy in the quarantine does not count: it had no effect. */
  async unknownEvents(eventIds: readonly string[]): Promise<ReadonlySet<string>> {
    if (eventIds.length === 0) return new Set();
    const found = await this.db.pool.query<{ id: string }>(
      `select given.id from unnest($1::text[]) as given(id)
        where not exists (select 1 from inbox_event e where e.source = 'stripe' and e.event_id = given.id)`,
      [eventIds],
    );
    return new Set(found.rows.map((r) => r.id));
  }

  /** The customers among these with a payment by the MoR. */
  async payingCustomers(customerIds: readonly string[]): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ id: string }>(
      `select given.id from unnest($1::text[]) as given(id)
        where exists (select 1 from payment p where p.customer_id = given.id and p.succeeded_at is not null)`,
      [customerIds],
    );
    const paying = new Set(found.rows.map((r) => r.id));
    return customerIds.filter((id) => paying.has(id)); // in the given order
  }
}

/** The query options for a table's rows of these invoices, oldest first. */
function oldestFirst(invoiceIds: readonly string[]) {
  return { where: { invoiceId: Any([...invoiceIds]) }, order: { seq: 'ASC' } } as const;
}

function byInvoice<T extends { readonly invoiceId: string | null }>(rows: readonly T[]): (id: string) => readonly T[] {
  const of = new Map<string | null, T[]>();
  for (const r of rows) {
    const list = of.get(r.invoiceId);
    if (list === undefined) of.set(r.invoiceId, [r]);
    else list.push(r);
  }
  return (id) => of.get(id) ?? [];
}

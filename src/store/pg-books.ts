// Reading the books from PostgreSQL: lists by TypeORM, single invoices by their indexes.
import { Injectable } from '@nestjs/common';
import { type EntitySchema, type ObjectLiteral } from 'typeorm';
import {
  type AuditRow,
  type Backlog,
  BadCursor,
  Books,
  type CustomerView,
  type EventRow,
  type InvoiceListItem,
  type InvoiceView,
  type LedgerRow,
  type Overview,
  type Page,
  type PageRequest,
  type PaymentView,
  type ReviewOrder,
} from '../domain/ports/books.js';
import { type InvoiceRow, type PaymentRow, type RefundRow, type ReviewRow } from '../domain/model.js';
import { lostOf, type MorObjectRow } from '../domain/mor-object.js';
import { Clock } from '../domain/ports/clock.js';
import { type Codec, fromRow, OBJECT, PAYMENT, REFUND, REVIEW } from './codec.js';
import { StoreUnavailable } from '../domain/ports/lane-store.js';
import { Database } from './database.js';
import { InvoiceEntity, PaymentEntity, RefundEntity, ReviewEntity, type Stored } from './entities.js';
import { eventById, eventPage } from './event-queries.js';
import { QUEUED } from './lane-queue.js';
import { readLane } from './lane-reader.js';
import { ledBy, listLedBy } from './led-by.js';
import { ledgerRow, ledgerRows } from './ledger-queries.js';
import { reviewsByDeadline } from './review-queries.js';
import { readOverview } from './overview-query.js';
import { SIGNUP } from './signup-store.js';

type Row = Record<string, unknown>;

/** A cursor is a row's number as text; anything else is no cursor of ours. */
function cursorOf(cursor: string | null): string {
  if (cursor === null) return '9223372036854775807';
  if (!/^\d{1,18}$/.test(cursor)) throw new BadCursor('the cursor is not one of ours');
  return cursor;
}

/** Cuts the one row too many that told whether there is a next page. */
function pageOf<R, T>(rows: readonly R[], limit: number, seq: (r: R) => string, view: (r: R) => T): Page<T> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { data: shown.map(view), nextCursor: rows.length > limit && last !== undefined ? seq(last) : null };
}

@Injectable()
export class PgBooks extends Books {
  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  private async list<T extends ObjectLiteral>(
    entity: EntitySchema<Stored<T>>,
    filter: Record<string, string | undefined>,
    page: PageRequest,
    /** Sets of fields with an index each, the narrowest first: the first one that the filter names leads. */
    indexes: readonly (readonly string[])[],
  ): Promise<Stored<T>[]> {
    const query = this.db.orm.getRepository(entity).createQueryBuilder('x');
    query.where('x.seq < :cursor', { cursor: cursorOf(page.cursor) });
    const lead = indexes.find((fields) => fields.every((field) => filter[field] !== undefined)) ?? [];
    for (const field of lead) query.addOrderBy(`x.${field}`);
    for (const [field, value] of Object.entries(filter)) {
      if (value === undefined) continue;
      // See `ledBy`: the order is that of the index, and of no other.
      query.andWhere(lead.includes(field) ? ledBy(`x.${field}`, `:${field}`) : `x.${field} = :${field}`, {
        [field]: value,
      });
    }
    return query
      .addOrderBy('x.seq', 'DESC')
      .limit(page.limit + 1)
      .getMany();
  }

  private async rows<T>(codec: Codec<T>, where: string, values: unknown[], order: string): Promise<T[]> {
    const found = await this.db.pool.query<Row>(
      `select * from ${codec.table} where ${where} order by ${order}`,
      values,
    );
    return found.rows.map((r) => fromRow(codec, r));
  }

  private async morCustomers(customerIds: readonly (string | null)[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.db.pool.query<{ customer_id: string; mor_customer_id: string }>(
      `select distinct on (customer_id) customer_id, mor_customer_id from customer_link
        where customer_id = any($1) order by customer_id, linked_at desc`,
      [customerIds.filter((id) => id !== null)],
    );
    return new Map(found.rows.map((r) => [r.customer_id, r.mor_customer_id]));
  }

  async invoices(filter: { status?: string; customerId?: string }, page: PageRequest): Promise<Page<InvoiceListItem>> {
    const rows = await this.list<InvoiceRow>(InvoiceEntity, filter, page, [['customerId'], ['status']]);
    const mor = await this.morCustomers(rows.map((r) => r.customerId));
    const ids = [rows.map((r) => r.invoiceId)];
    const payments = await this.rows(PAYMENT, 'invoice_id = any($1)', ids, 'seq');
    const refunds = await this.rows(REFUND, 'invoice_id = any($1)', ids, 'seq');
    return pageOf(
      rows,
      page.limit,
      (r) => r.seq,
      (r) => ({
        ...r,
        morCustomerId: mor.get(r.customerId ?? '') ?? null,
        payments: payments.filter((p) => p.invoiceId === r.invoiceId),
        refunds: refunds.filter((x) => x.invoiceId === r.invoiceId),
      }),
    );
  }

  async invoice(invoiceId: string): Promise<InvoiceView | null> {
    const { state, story } = await readLane(this.db.pool, invoiceId);
    const { invoice, payments, refunds, objects, taxes, messages, reviews } = state;
    if (invoice === null) return null;
    const morCustomerId = (await this.morCustomers([invoice.customerId])).get(invoice.customerId ?? '') ?? null;
    return { invoice, morCustomerId, payments, refunds, objects, taxes, messages, reviews, ...story };
  }

  async objects(invoiceId: string): Promise<readonly MorObjectRow[]> {
    return this.rows(OBJECT, 'invoice_id = $1', [invoiceId], 'seq');
  }

  async payments(
    filter: { status?: string; customerId?: string; invoiceId?: string },
    page: PageRequest,
  ): Promise<Page<PaymentView>> {
    const rows = await this.list<PaymentRow>(PaymentEntity, filter, page, [['invoiceId'], ['customerId'], ['status']]);
    const mor = await this.morCustomers(rows.map((r) => r.customerId));
    const refunds = await this.rows(REFUND, 'payment_row_id = any($1)', [rows.map((r) => r.id)], 'seq');
    const disputes = await this.disputes(rows);
    return pageOf(
      rows,
      page.limit,
      (r) => r.seq,
      (payment) => ({
        payment,
        morCustomerId: mor.get(payment.customerId) ?? null,
        refunds: refunds.filter((r) => r.paymentRowId === payment.id),
        lost: lostOf(payment.id, disputes),
      }),
    );
  }

  private disputes(payments: readonly PaymentRow[]): Promise<MorObjectRow[]> {
    return this.rows(OBJECT, `invoice_id = any($1) and kind = 'dispute'`, [payments.map((p) => p.invoiceId)], 'seq');
  }

  async payment(id: string): Promise<PaymentView | null> {
    const [payment] = await this.rows(PAYMENT, 'payment_id = $1 or id = $1', [id], 'seq limit 1');
    if (payment === undefined) return null;
    const mor = await this.morCustomers([payment.customerId]);
    const refunds = await this.rows(REFUND, 'payment_row_id = $1', [payment.id], 'seq');
    const lost = lostOf(payment.id, await this.disputes([payment]));
    return { payment, morCustomerId: mor.get(payment.customerId) ?? null, refunds, lost };
  }

  async paymentNames(rowIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.db.pool.query<{ id: string; name: string }>(
      'select id, coalesce(payment_id, id) as name from payment where id = any($1)',
      [rowIds],
    );
    return new Map(found.rows.map((r) => [r.id, r.name]));
  }

  async refund(id: string): Promise<{ readonly refund: RefundRow; readonly payment: PaymentRow } | null> {
    const [refund] = await this.rows(REFUND, 'id = $1 or mor_refund_id = $1', [id], 'seq limit 1');
    if (refund === undefined) return null;
    const [payment] = await this.rows(PAYMENT, 'id = $1', [refund.paymentRowId], 'seq');
    return payment === undefined ? null : { refund, payment };
  }

  async refunds(
    filter: { status?: string; invoiceId?: string },
    page: PageRequest,
  ): Promise<Page<{ readonly refund: RefundRow; readonly payment: PaymentRow }>> {
    const rows = await this.list<RefundRow>(RefundEntity, filter, page, [['invoiceId'], ['status']]);
    const payments = await this.rows(PAYMENT, 'id = any($1)', [rows.map((r) => r.paymentRowId)], 'seq');
    const byId = new Map(payments.map((p) => [p.id, p]));
    const found = rows.flatMap((r) => {
      const payment = byId.get(r.paymentRowId); // there is one: the table's foreign key says so
      return payment === undefined ? [] : [{ seq: r.seq, refund: r, payment }];
    });
    return pageOf(
      found,
      page.limit,
      (r) => r.seq,
      ({ refund, payment }) => ({ refund, payment }),
    );
  }

  events(
    filter: { source?: string; status?: string; type?: string; eventId?: string },
    page: PageRequest,
  ): Promise<Page<EventRow>> {
    return eventPage(this.db.pool, filter, page);
  }

  event(id: string): Promise<(EventRow & { readonly body: Buffer | null }) | null> {
    return eventById(this.db.pool, id);
  }

  async reviews(
    filter: { status?: string; kind?: string; invoiceId?: string },
    page: PageRequest,
    order: ReviewOrder = 'newest',
  ): Promise<Page<ReviewRow>> {
    if (order === 'due') return reviewsByDeadline(this.db.pool, filter, page);
    const rows = await this.list<ReviewRow>(ReviewEntity, filter, page, [
      ['invoiceId'],
      ['kind', 'status'],
      ['kind'],
      ['status'],
    ]);
    return pageOf(
      rows,
      page.limit,
      (r) => r.seq,
      (r) => r,
    );
  }

  async review(id: string): Promise<ReviewRow | null> {
    const [review] = await this.rows(REVIEW, 'id = $1', [id], 'seq');
    return review ?? null;
  }

  async ledger(
    filter: { invoiceId?: string; paymentId?: string; reason?: string },
    page: PageRequest,
  ): Promise<Page<LedgerRow>> {
    const payment = filter.paymentId === undefined ? null : await this.payment(filter.paymentId);
    if (filter.paymentId !== undefined && payment === null) return { data: [], nextCursor: null };
    const by = { invoiceId: filter.invoiceId, paymentRowId: payment?.payment.id, reason: filter.reason };
    const rows = await ledgerRows(this.db.pool, by, cursorOf(page.cursor), page.limit + 1);
    return pageOf(rows, page.limit, (r) => r['id'] as string, ledgerRow);
  }

  async audit(filter: { actor?: string; action?: string }, page: PageRequest): Promise<Page<AuditRow>> {
    const list = listLedBy({ actor: filter.actor, action: filter.action }, ['actor', 'action'], 'id');
    const found = await this.db.pool.query<Row>(
      `select * from audit where id < $1 and ${list.where} order by ${list.order} limit $2`,
      [cursorOf(page.cursor), page.limit + 1, ...list.values],
    );
    return pageOf(
      found.rows,
      page.limit,
      (r) => r['id'] as string,
      (r) => r as unknown as AuditRow,
    );
  }

  async customer(customerId: string): Promise<CustomerView | null> {
    const links = await this.db.pool.query<{ mor_customer_id: string }>(
      'select mor_customer_id from customer_link where customer_id = $1 order by linked_at desc',
      [customerId],
    );
    const newest = 'customer_id, seq desc limit 100';
    const signups = await this.rows(SIGNUP, ledBy('customer_id', '$1'), [customerId], newest);
    const invoices = await this.db.pool.query<{ invoice_id: string }>(
      `select invoice_id from invoice where ${ledBy('customer_id', '$1')} order by ${newest}`,
      [customerId],
    );
    if (links.rows.length === 0 && signups.length === 0 && invoices.rows.length === 0) return null;
    const morCustomerIds = links.rows.map((r) => r.mor_customer_id);
    return {
      customerId,
      morCustomerId: morCustomerIds[0] ?? null,
      morCustomerIds,
      signups,
      invoiceIds: invoices.rows.map((r) => r.invoice_id),
    };
  }

  async invoicesOfCharge(id: string): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ invoice_id: string }>(
      `select distinct invoice_id from payment where processor_charge_id = $1
       union select invoice_id from mor_object where mor_id = $1`,
      [id],
    );
    return found.rows.map((r) => r.invoice_id);
  }

  async ping(): Promise<void> {
    // A standby answers too, and can take nothing in (SQLSTATE 25006 at the first write).
    const found = await this.db.pool.query<{ read_only: boolean }>(
      `select current_setting('transaction_read_only') = 'on' as read_only`,
    );
    if (found.rows[0]?.read_only !== false) throw new StoreUnavailable('the database takes no writes');
  }

  overview(): Promise<Overview> {
    return readOverview(this.db.pool, this.clock.now());
  }

  async backlog(): Promise<Backlog> {
    const now = this.clock.now();
    const found = await this.db.pool.query<{
      waiting: string;
      pending: string;
      parked: string;
      oldest: Date | null;
    }>(
      `with undecided as materialized (
         select received_at from inbox_event where lane = any (${QUEUED}) and status = 'received')
       select (select count(*) from undecided) as waiting,
              (select count(*) from inbox_event where status = 'parked') as parked,
              (select count(*) from open_call where status = 'pending') as pending,
              least((select min(received_at) from undecided),
                    (select min(created_at) from open_call where status = 'pending')) as oldest`,
    );
    const kinds = await this.db.pool.query<{ kind: string; n: string }>(
      `select kind, count(*) as n from review where status = 'open' group by kind`,
    );
    const row = found.rows[0];
    return {
      waitingEvents: Number(row?.waiting ?? 0),
      pendingMessages: Number(row?.pending ?? 0),
      parkedEvents: Number(row?.parked ?? 0),
      oldestSeconds: Math.max(0, (now.getTime() - (row?.oldest ?? now).getTime()) / 1000),
      openReviews: new Map(kinds.rows.map((r) => [r.kind, Number(r.n)])),
    };
  }
}

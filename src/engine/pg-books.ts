// Reading the books: lists, look-ups and the customer's page through TypeORM, one invoice through its log.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import {
  type AuditFilter,
  type EventFilter,
  type InvoiceFilter,
  type PaymentFilter,
  type RefundFilter,
  type ReviewFilter,
  type AuditRow,
  type Backlog,
  Books,
  type CustomerSum,
  type CustomerView,
  type EventRow,
  type InvoiceListItem,
  type InvoiceView,
  type Page,
  type PageRequest,
  type PaymentView,
  type ReviewOrder,
  type SelectionSums,
  type Stuck,
} from '../domain/ports/books.js';
import { type PaymentRow, type RefundRow, type ReviewRow } from '../domain/model.js';
import { lostOf, type MorObjectRow } from '../domain/mor-object.js';
import { Clock } from '../domain/ports/clock.js';
import { StoreUnavailable } from '../domain/errors.js';
import { Database } from '../store/database.js';
import { AuditEntity } from '../store/entities/audit.entity.js';
import { CustomerLinkEntity } from '../store/entities/customer-link.entity.js';
import { InvoiceEntity } from '../store/entities/invoice.entity.js';
import { MorObjectEntity } from '../store/entities/mor-object.entity.js';
import { PaymentEntity } from '../store/entities/payment.entity.js';
import { RefundEntity } from '../store/entities/refund.entity.js';
import { ReviewEntity } from '../store/entities/review.entity.js';
import { SignupEntity } from '../store/entities/signup.entity.js';
import { eventById, eventPage } from '../store/event-queries.js';
import { QUEUED } from '../store/queue.js';
import { readLane } from './lane-reader.js';
import { morCustomers } from '../store/mor-customers.js';
import { INVOICE_AT, newestFirst, sumsOf } from '../store/newest-first.js';
import { invoiceList, paymentList, refundList } from '../store/money-lists.js';
import { numbersWithin } from '../store/number-at.js';
import { newestReviews, reviewsByDeadline } from '../store/review-queries.js';
import { PgOverview } from '../store/pg-overview.js';

const OF_CUSTOMER_AT_MOST = 100;

@Injectable()
export class PgBooks extends Books {
  private readonly invoiceRows = this.db.orm.getRepository(InvoiceEntity);
  private readonly paymentRows = this.db.orm.getRepository(PaymentEntity);
  private readonly refundRows = this.db.orm.getRepository(RefundEntity);
  private readonly objectRows = this.db.orm.getRepository(MorObjectEntity);
  private readonly reviewRows = this.db.orm.getRepository(ReviewEntity);
  private readonly auditRows = this.db.orm.getRepository(AuditEntity);
  private readonly signupRows = this.db.orm.getRepository(SignupEntity);
  private readonly links = this.db.orm.getRepository(CustomerLinkEntity);

  constructor(
    private readonly db: Database,
    private readonly clock: Clock,
  ) {
    super();
  }

  async invoices(filter: InvoiceFilter, page: PageRequest): Promise<Page<InvoiceListItem>> {
    const { fields, options } = invoiceList(filter);
    const { data, nextCursor } = await newestFirst(this.invoiceRows, 'seq', fields, page, options);
    const theirs = { where: { invoiceId: Any(data.map((r) => r.invoiceId)) }, order: { seq: 'ASC' } } as const;
    const [mor, payments, refunds] = await Promise.all([
      morCustomers(
        this.db.orm,
        data.map((r) => r.customerId),
      ),
      this.paymentRows.find(theirs),
      this.refundRows.find(theirs),
    ]);
    const items = data.map((r) => ({
      ...r,
      morCustomerId: mor.get(r.customerId ?? '') ?? null,
      payments: payments.filter((p) => p.invoiceId === r.invoiceId),
      refunds: refunds.filter((x) => x.invoiceId === r.invoiceId),
    }));
    return { data: items, nextCursor };
  }

  async invoice(invoiceId: string): Promise<InvoiceView | null> {
    const { state, story } = await readLane(this.db.pool, invoiceId);
    const { invoice, payments, refunds, objects, messages, reviews } = state;
    if (invoice === null) return null;
    const morCustomerId = (await morCustomers(this.db.orm, [invoice.customerId])).get(invoice.customerId ?? '') ?? null;
    return { invoice, morCustomerId, payments, refunds, objects, messages, reviews, ...story };
  }

  objects(invoiceId: string): Promise<readonly MorObjectRow[]> {
    return this.objectRows.find({ where: { invoiceId }, order: { seq: 'ASC' } });
  }

  invoiceSums(filter: InvoiceFilter): Promise<SelectionSums> {
    const { fields, options } = invoiceList(filter);
    return sumsOf(this.invoiceRows, fields, 'amount_due', options);
  }

  paymentSums(filter: PaymentFilter): Promise<SelectionSums> {
    const { fields, options } = paymentList(filter);
    return sumsOf(this.paymentRows, fields, 'amount', options);
  }

  refundSums(filter: RefundFilter): Promise<SelectionSums> {
    const { fields, options } = refundList(filter);
    return sumsOf(this.refundRows, fields, 'amount', options);
  }

  /** A customer's payments are few, and stand together in an index. */
  async customerSums(customerId: string): Promise<readonly CustomerSum[]> {
    const found = await this.db.pool.query<Record<'currency' | 'n' | 'taken' | 'refunded', string>>(
      `select currency, count(*) filter (where succeeded_at is not null) as n,
              coalesce(sum(amount) filter (where succeeded_at is not null), 0)::text as taken,
              coalesce(sum(amount_refunded), 0)::text as refunded
         from payment where customer_id = $1 group by currency order by 2 desc, 1`,
      [customerId],
    );
    return found.rows.map((r) => ({
      currency: r.currency,
      payments: Number(r.n),
      taken: BigInt(r.taken),
      refunded: BigInt(r.refunded),
    }));
  }

  async payments(filter: PaymentFilter, page: PageRequest): Promise<Page<PaymentView>> {
    const { fields, options } = paymentList(filter);
    const { data, nextCursor } = await newestFirst(this.paymentRows, 'seq', fields, page, options);
    return { data: await this.shown(data), nextCursor };
  }

  async payment(id: string): Promise<PaymentView | null> {
    const found = await this.paymentRows.find({ where: [{ paymentId: id }, { id }], order: { seq: 'ASC' }, take: 1 });
    return (await this.shown(found))[0] ?? null;
  }

  /** Payments with their refunds and with what banks took of them, all as of one moment: a step writes several of these rows. */
  private async shown(found: readonly PaymentRow[]): Promise<PaymentView[]> {
    if (found.length === 0) return [];
    const mor = await morCustomers(
      this.db.orm,
      found.map((p) => p.customerId),
    );
    return this.db.orm.transaction('REPEATABLE READ', async (at) => {
      const ids = found.map((p) => p.id);
      const payments = await at.find(PaymentEntity, { where: { id: Any(ids) } });
      const refunds = await at.find(RefundEntity, { where: { paymentRowId: Any(ids) }, order: { seq: 'ASC' } });
      const disputes = await at.find(MorObjectEntity, {
        where: { invoiceId: Any(found.map((p) => p.invoiceId)), kind: 'dispute' },
        order: { seq: 'ASC' },
      });
      const now = new Map(payments.map((p) => [p.id, p]));
      return found.map((p) => ({
        payment: now.get(p.id) ?? p,
        morCustomerId: mor.get(p.customerId) ?? null,
        refunds: refunds.filter((r) => r.paymentRowId === p.id),
        lost: lostOf(p.id, disputes),
      }));
    });
  }

  async paymentNames(rowIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.paymentRows.find({
      select: { id: true, paymentId: true },
      where: { id: Any([...rowIds]) },
    });
    return new Map(found.map((p) => [p.id, p.paymentId ?? p.id]));
  }

  async refund(id: string): Promise<{ readonly refund: RefundRow; readonly payment: PaymentRow } | null> {
    const [refund] = await this.refundRows.find({
      where: [{ id }, { askedAs: id }, { morRefundId: id }],
      order: { seq: 'ASC' },
      take: 1,
    });
    if (refund === undefined) return null;
    const payment = await this.paymentRows.findOneBy({ id: refund.paymentRowId });
    return payment === null ? null : { refund, payment };
  }

  async refunds(
    filter: RefundFilter,
    page: PageRequest,
  ): Promise<Page<{ readonly refund: RefundRow; readonly payment: PaymentRow }>> {
    const { fields, options } = refundList(filter);
    const { data, nextCursor } = await newestFirst(this.refundRows, 'seq', fields, page, options);
    const payments = await this.paymentRows.findBy({ id: Any(data.map((r) => r.paymentRowId)) });
    const byId = new Map(payments.map((p) => [p.id, p]));
    const both = data.flatMap((refund) => {
      const payment = byId.get(refund.paymentRowId); // there is one: the table's foreign key says so
      return payment === undefined ? [] : [{ refund, payment }];
    });
    return { data: both, nextCursor };
  }

  events(filter: EventFilter, page: PageRequest): Promise<Page<EventRow>> {
    return eventPage(this.db, filter, page);
  }

  event(id: string): Promise<(EventRow & { readonly body: Buffer | null }) | null> {
    return eventById(this.db.pool, id);
  }

  reviews(filter: ReviewFilter, page: PageRequest, order: ReviewOrder = 'newest'): Promise<Page<ReviewRow>> {
    return order === 'due'
      ? reviewsByDeadline(this.reviewRows, filter, page)
      : newestReviews(this.reviewRows, filter, page);
  }

  review(id: string): Promise<ReviewRow | null> {
    return this.reviewRows.findOneBy({ id });
  }

  async audit({ actor, action, ...span }: AuditFilter, page: PageRequest): Promise<Page<AuditRow>> {
    const numbers = await numbersWithin(this.db.orm, 'audit', 'at', span);
    return newestFirst(this.auditRows, 'id', { actor, action }, page, {
      indexes: [['actor', 'action'], ['actor'], ['action']],
      numbered: { at: 'x.at', span, numbers },
    });
  }

  async customer(customerId: string): Promise<CustomerView | null> {
    const first = { limit: OF_CUSTOMER_AT_MOST, cursor: null };
    const indexes = [['customerId']];
    const [links, { data: signups }, { data: invoices }] = await Promise.all([
      this.links.find({ where: { customerId }, order: { linkedAt: 'DESC' } }),
      newestFirst(this.signupRows, 'seq', { customerId }, first, { indexes }),
      newestFirst(this.invoiceRows, 'seq', { customerId }, first, { indexes, at: INVOICE_AT }),
    ]);
    if (links.length === 0 && signups.length === 0 && invoices.length === 0) return null;
    const morCustomerIds = [...new Set(links.map((l) => l.morCustomerId))];
    return {
      customerId,
      morCustomerId: (await morCustomers(this.db.orm, [customerId])).get(customerId) ?? null,
      morCustomerIds,
      signups: signups.filter((s) => s.kind !== 'method'),
      invoiceIds: invoices.map((i) => i.invoiceId),
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

  newestEvents(): Promise<readonly EventRow[]> {
    return new PgOverview(this.db).newestEvents();
  }

  stuck(limit: number): Promise<readonly Stuck[]> {
    return new PgOverview(this.db).stuck(limit);
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
              (select count(*) from inbox_event where aside = 'parked') as parked,
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

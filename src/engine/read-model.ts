// Finds one invoice, payment or refund by its id, for pages, routes and services.
import { Injectable } from '@nestjs/common';
import { Any, type DataSource } from 'typeorm';
import { type CallRow } from '../shared/domain/call-row.js';
import { type InvoiceRow } from '../shared/domain/invoice-row.js';
import { type JournalLine } from '../shared/domain/model.js';
import { type AttemptRow, type PaymentRow } from '../shared/domain/payment-row.js';
import { type RefundRow } from '../shared/domain/refund-row.js';
import { type ReviewRow } from '../shared/domain/review-row.js';
import { undecidedDisputes } from '../shared/domain/dispute-sum.js';
import { type MorObjectRow, lostOf } from '../shared/domain/mor-object.js';
import { Database } from '../frames/store/database.js';
import { InvoiceEntity, MorObjectEntity, PaymentEntity, RefundEntity } from '../frames/store/entities.js';
import { readLane } from './lane-reader.js';
import { morCustomers } from '../frames/store/mor-customers.js';

export type InvoiceView = {
  readonly invoice: InvoiceRow;
  readonly morCustomerId: string | null;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
  /** The invoice's objects at the MoR, oldest first. */
  readonly objects: readonly MorObjectRow[];
  readonly attempts: readonly AttemptRow[];
  readonly calls: readonly CallRow[];
  readonly reviews: readonly ReviewRow[];
  readonly journal: readonly JournalLine[];
};

export type PaymentView = {
  readonly payment: PaymentRow;
  /** The number on the customer's invoice. Null: not known yet. */
  readonly invoiceNumber: string | null;
  readonly morCustomerId: string | null;
  readonly refunds: readonly RefundRow[];
  /** The part of the payment taken back by banks after lost disputes, in smallest units. */
  readonly lost: bigint;
  /** The disputes next to which a refund may pay the customer twice. */
  readonly disputes: readonly MorObjectRow[];
};

/** A refund with its payment. */
export type ListedRefund = {
  readonly refund: RefundRow;
  readonly payment: PaymentRow;
  readonly invoiceNumber: string | null;
};

@Injectable()
export class ReadModel {
  private readonly paymentRows = this.db.orm.getRepository(PaymentEntity);

  constructor(private readonly db: Database) {}

  async invoice(invoiceId: string): Promise<InvoiceView | null> {
    const { state, story } = await readLane(this.db.pool, invoiceId);
    const { invoice, payments, refunds, objects, calls, reviews } = state;
    if (invoice === null) return null;
    const morCustomerId = (await morCustomers(this.db.orm, [invoice.customerId])).get(invoice.customerId ?? '') ?? null;
    return { invoice, morCustomerId, payments, refunds, objects, calls, reviews, ...story };
  }

  /** The objects of an invoice at the MoR, oldest first. */
  objects(invoiceId: string): Promise<readonly MorObjectRow[]> {
    return this.db.orm.getRepository(MorObjectEntity).find({ where: { invoiceId }, order: { seq: 'ASC' } });
  }

  /** Finds a payment by its `pay_…` or our own id. */
  async payment(id: string): Promise<PaymentView | null> {
    const found = await this.paymentRows.find({ where: [{ paymentId: id }, { id }], order: { seq: 'ASC' }, take: 1 });
    return (await paymentViews(this.db.orm, found))[0] ?? null;
  }

  /** Payments by the processor's `ch_…` or `pi_…`, oldest first: a payment intent may have several attempts. */
  async paymentsOfProcessor(id: string): Promise<readonly PaymentView[]> {
    const where = [{ processorChargeId: id }, { processorPaymentIntentId: id }];
    return paymentViews(this.db.orm, await this.paymentRows.find({ where, order: { seq: 'ASC' }, take: 20 }));
  }

  /** The public ids of payments: our id → `pay_…`, or our id until the MoR gives one. */
  async paymentNames(rowIds: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await this.paymentRows.find({
      select: { id: true, paymentId: true },
      where: { id: Any([...rowIds]) },
    });
    return new Map(found.map((p) => [p.id, p.paymentId ?? p.id]));
  }

  /** Finds a refund by our id or the MoR's, with its payment. */
  async refund(id: string): Promise<ListedRefund | null> {
    const [refund] = await this.db.orm.getRepository(RefundEntity).find({
      where: [{ id }, { askedAs: id }, { morRefundId: id }],
      order: { seq: 'ASC' },
      take: 1,
    });
    if (refund === undefined) return null;
    const payment = await this.paymentRows.findOneBy({ id: refund.paymentRowId });
    if (payment === null) return null;
    const numbers = await invoiceNumbers(this.db.orm, [refund]);
    return { refund, payment, invoiceNumber: numbers.get(refund.invoiceId) ?? null };
  }

  /** The invoices with a payment of this charge, or an object with this id at the MoR. */
  async invoicesOfCharge(id: string): Promise<readonly string[]> {
    const found = await this.db.pool.query<{ invoice_id: string }>(
      `select distinct invoice_id from payment where processor_charge_id = $1
       union select invoice_id from mor_object where mor_id = $1`,
      [id],
    );
    return found.rows.map((r) => r.invoice_id);
  }
}

/** The numbers of invoices, by invoice id. */
export async function invoiceNumbers(
  orm: DataSource,
  rows: readonly { readonly invoiceId: string }[],
): Promise<ReadonlyMap<string, string | null>> {
  const found = await orm.getRepository(InvoiceEntity).find({
    select: { invoiceId: true, number: true },
    where: { invoiceId: Any([...new Set(rows.map((r) => r.invoiceId))]) },
  });
  return new Map(found.map((i) => [i.invoiceId, i.number]));
}

/**
 * Payments with their refunds and lost disputes. One transaction reads these rows as of one moment, because a step may
 * write several of them.
 */
export async function paymentViews(orm: DataSource, found: readonly PaymentRow[]): Promise<PaymentView[]> {
  if (found.length === 0) return [];
  const mor = await morCustomers(
    orm,
    found.map((p) => p.customerId),
  );
  const numbers = await invoiceNumbers(orm, found);
  return orm.transaction('REPEATABLE READ', async (at) => {
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
      invoiceNumber: numbers.get(p.invoiceId) ?? null,
      morCustomerId: mor.get(p.customerId) ?? null,
      refunds: refunds.filter((r) => r.paymentRowId === p.id),
      lost: lostOf(p.id, disputes),
      disputes: undecidedDisputes(p, disputes),
    }));
  });
}

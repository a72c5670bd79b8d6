// Lists invoices.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { Database } from '../../frames/store/database.js';
import { InvoiceEntity, PaymentEntity, RefundEntity } from '../../frames/store/entities.js';
import { morCustomers } from '../../frames/store/mor-customers.js';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import { type PaymentRow } from '../../shared/domain/payment-row.js';
import { type RefundRow } from '../../shared/domain/refund-row.js';
import { type FilteredList, INVOICE_AT, newestFirst, sumsOf } from '../../frames/store/newest-first.js';

export type InvoiceFilter = MoneyFilter & { readonly status?: string | undefined };

/** An invoice in a list: with its amounts, without its timeline. */
export type InvoiceListItem = InvoiceRow & {
  readonly morCustomerId: string | null;
  readonly payments: readonly PaymentRow[];
  readonly refunds: readonly RefundRow[];
};

@Injectable()
export class InvoicesRepository {
  private readonly rows = this.db.orm.getRepository(InvoiceEntity);

  constructor(private readonly db: Database) {}

  /** Newest first, by the time Stripe made the invoice. Throws BadCursor. */
  async list(filter: InvoiceFilter, page: PageRequest): Promise<Page<InvoiceListItem>> {
    const { orm } = this.db;
    const { fields, options } = listOf(filter);
    const { data, nextCursor } = await newestFirst(this.rows, 'seq', fields, { page, ...options });
    const theirs = { where: { invoiceId: Any(data.map((r) => r.invoiceId)) }, order: { seq: 'ASC' } } as const;
    const customers = data.map((r) => r.customerId);
    const [mor, payments, refunds] = await Promise.all([
      morCustomers(orm, customers),
      orm.getRepository(PaymentEntity).find(theirs),
      orm.getRepository(RefundEntity).find(theirs),
    ]);
    const items = data.map((r) => ({
      ...r,
      morCustomerId: mor.get(r.customerId ?? '') ?? null,
      payments: payments.filter((p) => p.invoiceId === r.invoiceId),
      refunds: refunds.filter((x) => x.invoiceId === r.invoiceId),
    }));
    return { data: items, nextCursor };
  }

  sums(filter: InvoiceFilter): Promise<SelectionSums> {
    const { fields, options } = listOf(filter);
    return sumsOf(this.rows, fields, 'amount_due', options);
  }
}

function listOf(filter: InvoiceFilter): FilteredList {
  const { status, customerId, currency, amount } = filter;
  return {
    fields: { customerId, status, currency, amountDue: amount?.toString() },
    options: { indexes: [['customerId'], ['status']], at: INVOICE_AT, span: filter },
  };
}

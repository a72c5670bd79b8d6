// Lists refunds.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { type RefundHolder } from '../../engine/context.js';
import { invoiceNumbers, type ListedRefund } from '../../engine/read-model.js';
import { Database } from '../../frames/store/database.js';
import { PaymentEntity, RefundEntity } from '../../frames/store/entities.js';
import { ofCustomer } from '../../frames/store/mor-customers.js';
import { type FilteredList, newestFirst, REFUND_AT, sumsOf } from '../../frames/store/newest-first.js';
import { type Name } from '../../frames/store/walk.js';

export type RefundFilter = MoneyFilter & {
  /** Selects refunds with any of these statuses. */
  readonly statuses?: readonly string[] | undefined;
  readonly invoiceId?: string | undefined;
};

@Injectable()
export class RefundsRepository {
  private readonly rows = this.db.orm.getRepository(RefundEntity);

  constructor(private readonly db: Database) {}

  /**
   * Lists refunds, the newest first. A refund's time is its success, or before its success the time of its request.
   * Throws BadCursor.
   */
  async list(filter: RefundFilter, page: PageRequest): Promise<Page<ListedRefund>> {
    const { fields, options } = listOf(filter);
    const { data, nextCursor } = await newestFirst(this.rows, 'seq', fields, { page, ...options });
    const ids = Any(data.map((r) => r.paymentRowId));
    const payments = await this.db.orm.getRepository(PaymentEntity).findBy({ id: ids });
    const byId = new Map(payments.map((p) => [p.id, p]));
    const numbers = await invoiceNumbers(this.db.orm, data);
    const both = data.flatMap((refund) => {
      const payment = byId.get(refund.paymentRowId); // always found: the database has a foreign key
      const invoiceNumber = numbers.get(refund.invoiceId) ?? null;
      return payment === undefined ? [] : [{ refund, payment, invoiceNumber }];
    });
    return { data: both, nextCursor };
  }

  sums(filter: RefundFilter): Promise<SelectionSums> {
    const { fields, options } = listOf(filter);
    return sumsOf(this.rows, fields, 'amount', options);
  }

  /** Finds refunds with this id of the payment processor on all invoices except `invoiceId`, oldest first. */
  async namedElsewhere(processorRefundId: string, invoiceId: string): Promise<readonly RefundHolder[]> {
    const found = await this.db.pool.query<{ refund: string; payment: string; invoice_id: string }>(
      `select coalesce(r.mor_refund_id, r.id) as refund, coalesce(p.payment_id, p.id) as payment, r.invoice_id
         from refund r join payment p on p.id = r.payment_row_id
        where r.processor_refund_id = $1 and r.invoice_id <> $2 order by r.seq`,
      [processorRefundId, invoiceId],
    );
    return found.rows.map((r) => ({ refund: r.refund, payment: r.payment, invoiceId: r.invoice_id }));
  }
}

function listOf(filter: RefundFilter): FilteredList {
  const { statuses, currency, amount, customerId, invoiceId } = filter;
  const status = statuses?.length === 1 ? statuses[0] : undefined;
  return {
    fields: { status, currency, amount: amount?.toString() },
    options: {
      indexes: [['status']],
      at: REFUND_AT,
      span: filter,
      few: [
        ...(invoiceId === undefined ? [] : [(of: Name) => `x.invoice_id = ${of(invoiceId)}`]),
        ...(customerId === undefined ? [] : [(of: Name) => ofCustomer('x.payment_row_id', of(customerId))]),
        // Only the filter for unfinished refunds names several statuses. Unfinished refunds are few, so a search needs
        // no index by date.
        ...(statuses === undefined || status !== undefined ? [] : [(of: Name) => `x.status = any (${of(statuses)})`]),
      ],
    },
  };
}

// Lists payments.
import { Injectable } from '@nestjs/common';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../../shared/domain/page.js';
import { type ChargeHolder } from '../../engine/context.js';
import { paymentViews, type PaymentView } from '../../engine/read-model.js';
import { Database } from '../../frames/store/database.js';
import { PaymentEntity } from '../../frames/store/entities.js';
import { type FilteredList, newestFirst, PAYMENT_AT, sumsOf } from '../../frames/store/newest-first.js';
import { type Name } from '../../frames/store/walk.js';

export type PaymentFilter = MoneyFilter & {
  readonly status?: string | undefined;
  readonly invoiceId?: string | undefined;
  /** True: only taken payments without the MoR's `pay_…`. */
  readonly unnamed?: boolean | undefined;
};

/** All payments of a customer in one currency, in smallest units. */
export type CustomerSum = {
  readonly currency: string;
  /** The number of payments taken. */
  readonly payments: number;
  readonly taken: bigint;
  readonly refunded: bigint;
};

@Injectable()
export class PaymentsRepository {
  private readonly rows = this.db.orm.getRepository(PaymentEntity);

  constructor(private readonly db: Database) {}

  /**
   * Lists payments, the newest first. A payment's time is the first known of three: the MoR took the money, the MoR's
   * last verdict, our first record. Throws BadCursor.
   */
  async list(filter: PaymentFilter, page: PageRequest): Promise<Page<PaymentView>> {
    const { fields, options } = listOf(filter);
    const { data, nextCursor } = await newestFirst(this.rows, 'seq', fields, { page, ...options });
    return { data: await paymentViews(this.db.orm, data), nextCursor };
  }

  /** Sums the taken payments. The number of rows has the failed ones too. */
  sums(filter: PaymentFilter): Promise<SelectionSums> {
    const { fields, options } = listOf(filter);
    return sumsOf(this.rows, fields, 'amount', { ...options, countedIf: 'succeeded_at' });
  }

  /** Sums a customer's payments in each currency. An index finds the customer's few payments. */
  async ofCustomer(customerId: string): Promise<readonly CustomerSum[]> {
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

  /** Looks for these MoR payment ids on other invoices. Returns the invoice id of each found payment id. */
  async namedElsewhere(paymentIds: readonly string[], invoiceId: string): Promise<ReadonlyMap<string, string>> {
    const found = await this.db.pool.query<{ payment_id: string; invoice_id: string }>(
      `select payment_id, invoice_id from payment where payment_id = any($1) and invoice_id <> $2
       union select payment_id, invoice_id from ledger_entry
              where payment_id = any($1) and reason = 'payment_collected' and invoice_id <> $2`,
      [paymentIds, invoiceId],
    );
    return new Map(found.rows.map((r) => [r.payment_id, r.invoice_id]));
  }

  /**
   * Searches the ledger for these charges on other invoices. Returns the invoice and the payment of each found charge.
   */
  async collectedElsewhere(charges: readonly string[], invoiceId: string): Promise<ReadonlyMap<string, ChargeHolder>> {
    const found = await this.db.pool.query<{ charge: string; invoice_id: string; payment: string }>(
      `select e.processor_charge_id as charge, e.invoice_id, coalesce(p.payment_id, e.payment_id, e.payment_row_id) as payment
         from ledger_entry e left join payment p on p.id = e.payment_row_id -- the MoR may have named the payment after its booking
        where e.processor_charge_id = any($1) and e.reason = 'payment_collected' and e.invoice_id <> $2`,
      [charges, invoiceId],
    );
    return new Map(found.rows.map((r) => [r.charge, { invoiceId: r.invoice_id, payment: r.payment }]));
  }
}

function listOf(filter: PaymentFilter): FilteredList {
  const { status, customerId, invoiceId, unnamed, currency, amount } = filter;
  return {
    fields: { customerId, status, currency, amount: amount?.toString() },
    options: {
      indexes: [['customerId'], ['status']],
      at: PAYMENT_AT,
      span: filter,
      few: [
        ...(invoiceId === undefined ? [] : [(of: Name) => `x.invoice_id = ${of(invoiceId)}`]),
        ...(unnamed === true ? [() => 'x.payment_id is null and x.succeeded_at is not null'] : []),
      ],
    },
  };
}

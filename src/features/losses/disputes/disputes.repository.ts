// Lists disputes and alerts.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type PaymentRow } from '../../../shared/domain/payment-row.js';
import { type MorObjectRow } from '../../../shared/domain/mor-object.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../../../shared/domain/page.js';
import { Database } from '../../../frames/store/database.js';
import { InvoiceEntity, MorObjectEntity, PaymentEntity } from '../../../frames/store/entities.js';
import { inOrder } from '../../../frames/store/newest-first.js';
import { givenOf, Parameters, sumUp, type Walk, walk, within } from '../../../frames/store/walk.js';

export type DisputeFilter = MoneyFilter & {
  readonly kind?: string | undefined;
  readonly status?: string | undefined;
};

/** A dispute with its invoice and payment. `payment` null: unknown. The filter `amount` means the disputed amount. */
export type DisputeItem = {
  readonly dispute: MorObjectRow;
  readonly customerId: string | null;
  readonly invoiceNumber: string | null;
  readonly payment: Pick<PaymentRow, 'id' | 'paymentId' | 'amount' | 'currency'> | null;
};

/** The disputed amount comes from the MoR's events. If no event has an amount, it is the whole payment. */
const DISPUTES = `(
  select o.id, o.seq, o.kind, o.status, o.invoice_id, o.created_at, coalesce(o.amount, p.amount) as amount,
         case when o.amount is null then p.currency else o.currency end as currency
    from mor_object o left join payment p on p.id = o.payment_row_id) x`;

/** The condition of the partial index on disputes and alerts. */
const DISPUTED = `x.kind in ('dispute', 'alert')`;

const AT = 'x.created_at';

@Injectable()
export class DisputesRepository {
  private readonly rows = this.db.orm.getRepository(MorObjectEntity);

  constructor(private readonly db: Database) {}

  /** Lists disputes by the time of their first event, newest first. Throws BadCursor for a malformed cursor. */
  async list(filter: DisputeFilter, page: PageRequest): Promise<Page<DisputeItem>> {
    const found = await walk(this.db.orm, walkOf(filter), page);
    const disputes = await inOrder(this.rows, 'id', found.data);
    // Loads only the columns of the list: a CSV has thousands of rows.
    const [invoices, payments] = await Promise.all([
      this.db.orm.getRepository(InvoiceEntity).find({
        select: { invoiceId: true, customerId: true, number: true },
        where: { invoiceId: Any(disputes.map((o) => o.invoiceId)) },
      }),
      this.db.orm.getRepository(PaymentEntity).find({
        select: { id: true, paymentId: true, amount: true, currency: true },
        where: { id: Any(disputes.flatMap((o) => o.paymentRowId ?? [])) },
      }),
    ]);
    const known = new Map(invoices.map((i) => [i.invoiceId, i]));
    const paid = new Map(payments.map((p) => [p.id, p]));
    const data = disputes.map((dispute) => ({
      dispute,
      customerId: known.get(dispute.invoiceId)?.customerId ?? null,
      invoiceNumber: known.get(dispute.invoiceId)?.number ?? null,
      payment: paid.get(dispute.paymentRowId ?? '') ?? null,
    }));
    return { data, nextCursor: found.nextCursor };
  }

  /** The sums of the disputed amounts. */
  sums(filter: DisputeFilter): Promise<SelectionSums> {
    return sumUp(this.db.orm, walkOf(filter), 'amount');
  }

  /** Finds a dispute by our id or the MoR's. */
  async find(id: string): Promise<MorObjectRow | null> {
    const kind = Any<MorObjectRow['kind']>(['dispute', 'alert']);
    const [found] = await this.rows.find({
      where: [
        { id, kind },
        { morId: id, kind },
      ],
      order: { seq: 'ASC' },
      take: 1,
    });
    return found ?? null;
  }
}

function walkOf({ kind, status, currency, amount, customerId, ...span }: DisputeFilter): Walk {
  const parameters = new Parameters();
  const theirs =
    customerId === undefined
      ? []
      : [
          `x.invoice_id = any (array(select i.invoice_id from invoice i where i.customer_id = ${parameters.of(customerId)}))`,
        ];
  const looked = givenOf({ kind, status, currency, amount: amount?.toString() });
  return {
    from: DISPUTES,
    key: 'id',
    number: 'seq',
    at: AT,
    lead: [],
    where: [DISPUTED, ...theirs, ...within(AT, span, parameters)],
    parameters,
    looked,
    few: theirs.length > 0,
  };
}

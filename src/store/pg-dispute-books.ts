// Disputes and alerts in PostgreSQL: by an index of their own among all that the MoR keeps beside invoices.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type MorObjectRow } from '../domain/mor-object.js';
import { type Page, type PageRequest, type SelectionSums } from '../domain/ports/books.js';
import { DisputeBooks, type DisputeFilter, type DisputeItem } from '../domain/ports/dispute-books.js';
import { Database } from './database.js';
import { InvoiceEntity } from './entities/invoice.entity.js';
import { MorObjectEntity } from './entities/mor-object.entity.js';
import { PaymentEntity } from './entities/payment.entity.js';
import { inOrder } from './newest-first.js';
import { givenOf, Parameters, sumUp, type Walk, walk, within } from './walk.js';

/** What is disputed is what the bank says, or else the whole payment. */
const DISPUTES = `(
  select o.id, o.seq, o.kind, o.status, o.invoice_id, o.created_at, coalesce(o.amount, p.amount) as amount,
         case when o.amount is null then p.currency else o.currency end as currency
    from mor_object o left join payment p on p.id = o.payment_row_id) x`;
/** The words of the partial index. */
const DISPUTED = `x.kind in ('dispute', 'alert')`;
const AT = 'x.created_at';

@Injectable()
export class PgDisputeBooks extends DisputeBooks {
  private readonly rows = this.db.orm.getRepository(MorObjectEntity);

  constructor(private readonly db: Database) {
    super();
  }

  async list(filter: DisputeFilter, page: PageRequest): Promise<Page<DisputeItem>> {
    const found = await walk(this.db.orm, walkOf(filter), page);
    const disputes = await inOrder(this.rows, 'id', found.data);
    // Of the wide rows beside a dispute only what is shown: a CSV has thousands.
    const [invoices, payments] = await Promise.all([
      this.db.orm.getRepository(InvoiceEntity).find({
        select: { invoiceId: true, customerId: true },
        where: { invoiceId: Any(disputes.map((o) => o.invoiceId)) },
      }),
      this.db.orm.getRepository(PaymentEntity).find({
        select: { id: true, paymentId: true, amount: true, currency: true },
        where: { id: Any(disputes.flatMap((o) => o.paymentRowId ?? [])) },
      }),
    ]);
    const customers = new Map(invoices.map((i) => [i.invoiceId, i.customerId]));
    const paid = new Map(payments.map((p) => [p.id, p]));
    const data = disputes.map((dispute) => ({
      dispute,
      customerId: customers.get(dispute.invoiceId) ?? null,
      payment: paid.get(dispute.paymentRowId ?? '') ?? null,
    }));
    return { data, nextCursor: found.nextCursor };
  }

  sums(filter: DisputeFilter): Promise<SelectionSums> {
    return sumUp(this.db.orm, walkOf(filter), 'amount');
  }

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

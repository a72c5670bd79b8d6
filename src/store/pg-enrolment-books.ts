// Who has moved to the MoR, in PostgreSQL: links with what came of them, and the invoices that were left alone.
import { Injectable } from '@nestjs/common';
import { type InvoiceRow } from '../domain/model.js';
import { type MoneyFilter, type Page, type PageRequest, type SelectionSums } from '../domain/ports/books.js';
import { EnrolmentBooks, type LinkedCustomer, type LinkedFilter, MOVES } from '../domain/ports/enrolment-books.js';
import { Database } from './database.js';
import { CustomerLinkEntity } from './entities/customer-link.entity.js';
import { InvoiceEntity } from './entities/invoice.entity.js';
import { inOrder } from './newest-first.js';
import { givenOf, Parameters, sumUp, type Walk, walk, within } from './walk.js';

/**
 * As `crossbill status` counts them (store/pg-customer-links.ts); here of the rows of a page, one by one: an `exists` may be
 * answered by reading the whole table once. It goes with the key.
 */
const LINKED = `(
  select m.*, m.move || ' ' || m.seq as moved from (
    select l.*, case
      when (select true from payment p where p.customer_id = l.customer_id and p.origin = 'renewal' and p.succeeded_at is not null limit 1) then 'renewed'
      when (select true from invoice i where i.customer_id = l.customer_id and i.expected_by is not null limit 1) then 'not_paid_yet'
      else 'no_renewal_yet' end as move
    from customer_link l) m) x`;

/** Of an index that holds these alone. */
const OUTSIDE_AT = 'x.first_seen_at';

@Injectable()
export class PgEnrolmentBooks extends EnrolmentBooks {
  constructor(private readonly db: Database) {
    super();
  }

  async linked(
    { customerId, linkedBy, move, ...span }: LinkedFilter,
    page: PageRequest,
  ): Promise<Page<LinkedCustomer>> {
    const parameters = new Parameters();
    const looked = givenOf({ linked_by: linkedBy, move });
    const found = await walk(
      this.db.orm,
      {
        from: LINKED,
        key: 'moved',
        number: 'seq',
        at: 'x.linked_at',
        lead: [],
        where: [
          ...(customerId === undefined ? [] : [`x.customer_id = ${parameters.of(customerId)}`]),
          ...within('x.linked_at', span, parameters),
        ],
        parameters,
        looked,
        few: customerId !== undefined,
      },
      page,
    );
    const moves = new Map(found.data.map((key) => [key.split(' ')[1] ?? '', MOVES.find((m) => key.startsWith(m))]));
    const links = await inOrder(this.db.orm.getRepository(CustomerLinkEntity), 'seq', [...moves.keys()]);
    const data = links.map((link) => ({ ...link, move: moves.get(link.seq) ?? ('no_renewal_yet' as const) }));
    return { data, nextCursor: found.nextCursor };
  }

  async outside(filter: MoneyFilter, page: PageRequest): Promise<Page<InvoiceRow>> {
    const found = await walk(this.db.orm, outsideOf(filter), page);
    const data = await inOrder(this.db.orm.getRepository(InvoiceEntity), 'invoiceId', found.data);
    return { data, nextCursor: found.nextCursor };
  }

  outsideSums(filter: MoneyFilter): Promise<SelectionSums> {
    return sumUp(this.db.orm, outsideOf(filter), 'amount_due');
  }
}

function outsideOf({ currency, amount, customerId, ...span }: MoneyFilter): Walk {
  const parameters = new Parameters();
  const looked = givenOf({ currency, amount_due: amount?.toString() });
  return {
    from: 'invoice x',
    key: 'invoice_id',
    number: 'seq',
    at: OUTSIDE_AT,
    lead: [],
    where: [
      'x.enrolled = false',
      ...(customerId === undefined ? [] : [`x.customer_id = ${parameters.of(customerId)}`]),
      ...within(OUTSIDE_AT, span, parameters),
    ],
    parameters,
    looked,
    few: customerId !== undefined,
  };
}

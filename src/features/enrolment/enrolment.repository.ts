// Lists the customers moved to the MoR, and the invoices left to Stripe.
import { Injectable } from '@nestjs/common';
import { type InvoiceRow } from '../../shared/domain/invoice-row.js';
import {
  type MoneyFilter,
  type Page,
  type PageRequest,
  type SelectionSums,
  type Span,
} from '../../shared/domain/page.js';
import { type CustomerLink } from '../../shared/domain/customer-link.js';
import { CustomerLinkEntity, InvoiceEntity } from '../../frames/store/entities.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { inOrder } from '../../frames/store/newest-first.js';
import { givenOf, Parameters, sumUp, type Walk, walk, within } from '../../frames/store/walk.js';

/**
 * A customer's progress. `renewed`: the MoR has taken a renewal. `not_paid_yet`: the customer had a renewal, but the
 * MoR has taken none. `no_renewal_yet`: the customer had no renewal.
 */
export const MOVES = ['renewed', 'not_paid_yet', 'no_renewal_yet'] as const;

export type Move = (typeof MOVES)[number];

/** The filters of the linked customers. `since` and `until`: the time of the link. */
export type LinkedFilter = Span & {
  readonly customerId?: string | undefined;
  /** The maker of the link: `signup`, an API key's name, or the operator of a file import. */
  readonly linkedBy?: string | undefined;
  readonly move?: string | undefined;
};

export type LinkedCustomer = CustomerLink & { readonly move: Move };

/**
 * The state of each linked customer, by the same rules as in `migration`. Each subquery has `limit 1`, because a page
 * needs few rows: with `exists`, PostgreSQL may read the whole table.
 */
const LINKED = `(
  select m.*, m.move || ' ' || m.seq as moved from (
    select l.*, case
      when (select true from payment p where p.customer_id = l.customer_id and p.origin = 'renewal' and p.succeeded_at is not null limit 1) then 'renewed'
      when (select true from invoice i where i.customer_id = l.customer_id and i.expected_by is not null limit 1) then 'not_paid_yet'
      else 'no_renewal_yet' end as move
    from customer_link l) m) x`;

/** The column for filters by time. The partial index over the invoices outside ENROLMENT contains this column. */
const OUTSIDE_AT = 'x.first_seen_at';

/** Counts of the customers' move to the MoR. */
export type Migration = {
  readonly linked: number;
  /** Linked customers with a renewal taken by the MoR. */
  readonly renewed: number;
  /** Linked customers with a renewal, and none taken by the MoR yet. */
  readonly notRenewed: number;
  /** Linked customers without a renewal so far. */
  readonly waiting: number;
  /** Customers with invoices outside ENROLMENT in the last `OUTSIDE_DAYS` days. */
  readonly outside: number;
};

/** The age limit for invoices outside ENROLMENT: long enough for a monthly renewal of every customer. */
export const OUTSIDE_DAYS = 35;

const NOTHING = { linked: 0, renewed: 0, notRenewed: 0, waiting: 0, outside: 0 };

@Injectable()
export class EnrolmentRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Our facts about the customer. `atStripe`: after the last run of `crossbill move`, Stripe may charge this
   * subscription.
   */
  async known(
    customerId: string,
    subscriptionId: string | null,
  ): Promise<{ readonly linkedAt: Date | null; readonly paid: boolean; readonly atStripe: boolean }> {
    const found = await this.db.pool.query<{ linked_at: Date | null; paid: boolean; at_stripe: boolean }>({
      name: 'customer_known',
      text: `select (select min(linked_at) from customer_link where customer_id = $1) as linked_at,
                    exists (select from payment where customer_id = $1 and origin in ('renewal', 'signup')) as paid,
                    exists (select from move where subscription_id = $2 and at_stripe) as at_stripe`,
      values: [customerId, subscriptionId],
    });
    const row = found.rows[0];
    return { linkedAt: row?.linked_at ?? null, paid: row?.paid === true, atStripe: row?.at_stripe === true };
  }

  async migration(): Promise<Migration> {
    const found = await this.db.pool.query<Migration>(
      `with linked as (select distinct customer_id from customer_link),
            moved as (
              select exists (select from payment p where p.customer_id = l.customer_id and p.origin = 'renewal' and p.succeeded_at is not null) as renewed,
                     exists (select from invoice i where i.customer_id = l.customer_id and i.expected_by is not null) as seen
                from linked l)
       select count(*)::int as linked,
              (count(*) filter (where renewed))::int as renewed,
              (count(*) filter (where not renewed and seen))::int as "notRenewed",
              (count(*) filter (where not renewed and not seen))::int as waiting,
              (select count(distinct customer_id)::int from invoice
                where enrolled = false and first_seen_at > ${timeSql(1)} - interval '${OUTSIDE_DAYS} days') as outside
         from moved`,
      [this.time.given()],
    );
    return found.rows[0] ?? NOTHING;
  }

  /** Customers with a link to the MoR, the newest link first. Throws BadCursor. */
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

  /** Invoices outside ENROLMENT. The order is the time Crossbill first saw them, newest first. Throws BadCursor. */
  async outside(filter: MoneyFilter, page: PageRequest): Promise<Page<InvoiceRow>> {
    const found = await walk(this.db.orm, outsideOf(filter), page);
    const data = await inOrder(this.db.orm.getRepository(InvoiceEntity), 'invoiceId', found.data);
    return { data, nextCursor: found.nextCursor };
  }

  /** Sums the amounts due on the invoices outside ENROLMENT. */
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

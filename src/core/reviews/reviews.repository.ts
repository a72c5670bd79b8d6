// Lists review items, and closes items without an invoice.
import { Injectable } from '@nestjs/common';
import { type Repository } from 'typeorm';
import { type ReviewRow } from '../../shared/domain/review-row.js';
import { BadCursor, type Page, type PageRequest, type Span } from '../../shared/domain/page.js';
import { Database } from '../../frames/store/database.js';
import { ReviewEntity } from '../../frames/store/entities.js';
import { newestFirst } from '../../frames/store/newest-first.js';
import { type Name } from '../../frames/store/walk.js';

export type ReviewFilter = Span & {
  readonly status?: string | undefined;
  readonly kind?: string | undefined;
  readonly invoiceId?: string | undefined;
  readonly customerId?: string | undefined;
};

/** Whose money an item is about. Null: not known, or the item is about no customer. `minor`: smallest units. */
export type ReviewAbout = {
  readonly customerId: string | null;
  readonly minor: bigint | null;
  readonly currency: string | null;
};

export const REVIEW_ORDERS = ['newest', 'due'] as const;

export type ReviewOrder = (typeof REVIEW_ORDERS)[number];

/** Reads a cursor: the last row's deadline (Unix milliseconds, or `none`) and the row's number. */
function cursorOf(cursor: string | null): readonly [dueAt: Date | null, seq: string | null] {
  if (cursor === null) return [null, null];
  const [, due, seq] = /^(none|\d{1,14})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (due === undefined || seq === undefined) throw new BadCursor('the cursor is not one of ours');
  return [due === 'none' ? null : new Date(Number(due)), seq];
}

/**
 * Matches items by their invoice's customer. Items without an invoice, such as those of an incomplete signup, never
 * match.
 */
const ofCustomer = (customer: string): string =>
  `x.invoice_id = any (array(select i.invoice_id from invoice i where i.customer_id = ${customer}))`;

function newestReviews(
  reviews: Repository<ReviewEntity>,
  { status, kind, invoiceId, customerId, ...span }: ReviewFilter,
  page: PageRequest,
): Promise<Page<ReviewRow>> {
  return newestFirst(
    reviews,
    'seq',
    { status, kind },
    {
      page,
      indexes: [['kind', 'status'], ['kind'], ['status']],
      at: 'x.created_at',
      span,
      few: [
        ...(invoiceId === undefined ? [] : [(of: Name) => `x.invoice_id = ${of(invoiceId)}`]),
        ...(customerId === undefined ? [] : [(of: Name) => ofCustomer(of(customerId))]),
      ],
    },
  );
}

/** Items by deadline. Throws BadCursor for a cursor of a list in another order. */
async function reviewsByDeadline(
  reviews: Repository<ReviewEntity>,
  { since, until, customerId, ...filter }: ReviewFilter,
  page: PageRequest,
): Promise<Page<ReviewRow>> {
  const [due, seq] = cursorOf(page.cursor);
  const query = reviews.createQueryBuilder('x');
  for (const [field, value] of Object.entries(filter)) {
    if (value !== undefined) query.andWhere(`x.${field} = :${field}`, { [field]: value });
  }
  if (customerId !== undefined) query.andWhere(ofCustomer(':customerId'), { customerId });
  if (since !== undefined) query.andWhere('x.createdAt >= :since', { since });
  if (until !== undefined) query.andWhere('x.createdAt < :until', { until });
  if (seq !== null && due === null) query.andWhere('x.dueAt is null and x.seq < :seq', { seq });
  if (seq !== null && due !== null) {
    query.andWhere('(x.dueAt is null or x.dueAt > :due or (x.dueAt = :due and x.seq < :seq))', { due, seq });
  }
  const found = await query
    .orderBy('x.dueAt', 'ASC', 'NULLS LAST')
    .addOrderBy('x.seq', 'DESC')
    .limit(page.limit + 1)
    .getMany();
  const data = found.slice(0, page.limit);
  const last = data.at(-1);
  const more = found.length > page.limit && last !== undefined;
  return { data, nextCursor: more ? `${last.dueAt?.getTime() ?? 'none'}.${last.seq}` : null };
}

@Injectable()
export class ReviewsRepository {
  private readonly rows = this.db.orm.getRepository(ReviewEntity);

  constructor(private readonly db: Database) {}

  /**
   * Lists items. `due`: the soonest deadline first, then items without a deadline, newest first. Throws BadCursor for a
   * cursor of a list in another order.
   */
  list(filter: ReviewFilter, page: PageRequest, order: ReviewOrder = 'newest'): Promise<Page<ReviewRow>> {
    return order === 'due' ? reviewsByDeadline(this.rows, filter, page) : newestReviews(this.rows, filter, page);
  }

  /** The customers and amounts behind these items, by item id: of the refund, else the payment, else the invoice. */
  async abouts(reviews: readonly ReviewRow[]): Promise<ReadonlyMap<string, ReviewAbout>> {
    const found = await this.db.pool.query<Record<'id' | 'customer_id' | 'amount' | 'currency', string | null>>(
      `select r.id, coalesce(i.customer_id, nullif(p.customer_id, '')) as customer_id,
              case when f.id is not null then f.amount when p.amount is not null then p.amount else i.amount_due end::text as amount,
              case when f.id is not null then f.currency when p.amount is not null then p.currency else i.currency end as currency
         from review r left join invoice i on i.invoice_id = r.invoice_id left join payment p on p.id = r.payment_row_id
         left join refund f on f.id = r.refund_id
        where r.id = any($1)`,
      [reviews.map((r) => r.id)],
    );
    return new Map(
      found.rows.map(({ id, customer_id: customerId, amount, currency }) => [
        id ?? '',
        { customerId, minor: amount === null ? null : BigInt(amount), currency },
      ]),
    );
  }

  find(id: string): Promise<ReviewRow | null> {
    return this.rows.findOneBy({ id });
  }

  /** Closes the item with a single statement. Returns false if another person was first. */
  async close(item: ReviewRow): Promise<boolean> {
    const { id, resolvedAt, resolvedBy, resolution, note } = item;
    const closed = await this.db.pool.query(
      `update review set status = 'resolved', resolved_at = $2, resolved_by = $3, resolution = $4, note = $5
        where id = $1 and status = 'open' and invoice_id is null`,
      [id, resolvedAt, resolvedBy, resolution, note],
    );
    return closed.rowCount === 1;
  }
}

// Review items by their deadline, the soonest first, and the closing of those that belong to no invoice.
import { Injectable } from '@nestjs/common';
import { type Repository } from 'typeorm';
import { type ReviewRow } from '../domain/model.js';
import { BadCursor, type Page, type PageRequest } from '../domain/ports/books.js';
import { ReviewDesk } from '../domain/ports/review-desk.js';
import { Database } from './database.js';
import { type ReviewEntity } from './entities/review.entity.js';

/** Where a page ended: its last row's deadline in Unix milliseconds, or `none`, and the row's number. */
function cursorOf(cursor: string | null): readonly [dueAt: Date | null, seq: string | null] {
  if (cursor === null) return [null, null];
  const [, due, seq] = /^(none|\d{1,14})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (due === undefined || seq === undefined) throw new BadCursor('the cursor is not one of ours');
  return [due === 'none' ? null : new Date(Number(due)), seq];
}

/** Throws BadCursor for a cursor of another order. */
export async function reviewsByDeadline(
  reviews: Repository<ReviewEntity>,
  filter: { readonly status?: string; readonly kind?: string; readonly invoiceId?: string },
  page: PageRequest,
): Promise<Page<ReviewRow>> {
  const [due, seq] = cursorOf(page.cursor);
  const query = reviews.createQueryBuilder('x');
  for (const [field, value] of Object.entries(filter)) query.andWhere(`x.${field} = :${field}`, { [field]: value });
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
export class PgReviewDesk extends ReviewDesk {
  constructor(private readonly db: Database) {
    super();
  }

  /** One statement: of two people at once, one finds it open. */
  override async close(r: ReviewRow): Promise<boolean> {
    const { id, resolvedAt, resolvedBy, resolution, note } = r;
    const closed = await this.db.pool.query(
      `update review set status = 'resolved', resolved_at = $2, resolved_by = $3, resolution = $4, note = $5
        where id = $1 and status = 'open' and invoice_id is null`,
      [id, resolvedAt, resolvedBy, resolution, note],
    );
    return closed.rowCount === 1;
  }
}

// Review items by their deadline, the soonest first, and the closing of those that belong to no invoice.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { type ReviewRow } from '../domain/model.js';
import { BadCursor, type Page, type PageRequest } from '../domain/ports/books.js';
import { ReviewDesk } from '../domain/ports/review-desk.js';
import { fromRow, REVIEW } from './codec.js';
import { Database } from './database.js';

type Row = Record<string, unknown>;

const SQL = `
  select * from review
   where ($1::text is null or status = $1) and ($2::text is null or kind = $2) and ($3::text is null or invoice_id = $3)
     and case when $5::bigint is null then true
              when $4::timestamptz is null then due_at is null and seq < $5
              else due_at is null or due_at > $4 or (due_at = $4 and seq < $5) end
   order by due_at nulls last, seq desc limit $6`;

/** Where a page ended: its last row's deadline in Unix milliseconds, or `none`, and the row's number. */
function cursorOf(cursor: string | null): readonly [dueAt: Date | null, seq: string | null] {
  if (cursor === null) return [null, null];
  const [, due, seq] = /^(none|\d{1,14})\.(\d{1,18})$/.exec(cursor) ?? [];
  if (due === undefined || seq === undefined) throw new BadCursor('the cursor is not one of ours');
  return [due === 'none' ? null : new Date(Number(due)), seq];
}

/** Throws BadCursor for a cursor of another order. */
export async function reviewsByDeadline(
  pool: pg.Pool,
  filter: { readonly status?: string; readonly kind?: string; readonly invoiceId?: string },
  page: PageRequest,
): Promise<Page<ReviewRow>> {
  const of = [filter.status ?? null, filter.kind ?? null, filter.invoiceId ?? null];
  const found = await pool.query<Row>(SQL, [...of, ...cursorOf(page.cursor), page.limit + 1]);
  const shown = found.rows.slice(0, page.limit);
  const data = shown.map((r) => fromRow(REVIEW, r));
  const [last, seq] = [data.at(-1), shown.at(-1)?.['seq'] as string | undefined];
  const more = found.rows.length > page.limit && last !== undefined && seq !== undefined;
  return { data, nextCursor: more ? `${last.dueAt?.getTime() ?? 'none'}.${seq}` : null };
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

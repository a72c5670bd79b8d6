// Each merchant's onboarding in PostgreSQL.
import { Injectable } from '@nestjs/common';
import { type OnboardingChange, type OnboardingRow, Onboardings } from '../domain/ports/onboarding.js';
import { BadCursor, type Page, type PageRequest } from '../domain/ports/books.js';
import { jsonText } from './codec.js';
import { DatabaseTime, laterSql, timeSql } from './database-time.js';
import { Database } from './database.js';
import { turnIsFree } from './turns.js';

type Row = Record<string, unknown>;

// Field → column and how its value is written.
const COLUMNS = {
  reference: 'reference',
  merchantId: 'merchant_id',
  applicationId: 'application_id',
  productCode: 'product_code',
  regions: 'regions',
  status: 'status',
  due: 'due',
  comments: 'comments',
  reviewMessage: 'review_message',
  bodySha256: 'body_sha256',
  existing: 'existing',
  companyDiscarded: 'company_discarded',
  initiates: 'initiates',
  submittedAt: 'submitted_at',
  reviewedAt: 'reviewed_at',
  readAt: 'read_at',
  pollAt: 'poll_at',
  busyUntil: 'busy_until',
  createdBy: 'created_by',
  createdAt: 'created_at',
  updatedAt: 'updated_at',
} as const satisfies Record<keyof OnboardingRow, string>;

type Field = keyof typeof COLUMNS;

function written(field: Field, value: unknown): unknown {
  return field === 'comments' ? jsonText(value) : value;
}

/** A row as it was read. The table's own types and checks vouch for what the columns hold. */
function fromRow(row: Row): OnboardingRow {
  const entries = Object.entries(COLUMNS).map(([field, column]) => [field, row[column] ?? null]);
  return Object.fromEntries(entries) as OnboardingRow;
}

@Injectable()
export class PgOnboardings extends Onboardings {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  async create(row: OnboardingRow): Promise<boolean> {
    const fields = Object.keys(COLUMNS) as Field[];
    const columns = fields.map((f) => COLUMNS[f]).join(', ');
    const places = fields.map((_, i) => `$${i + 1}`).join(', ');
    const made = await this.db.pool.query(
      `insert into onboarding (${columns}) values (${places}) on conflict (reference) do nothing`,
      fields.map((f) => written(f, row[f])),
    );
    return made.rowCount === 1;
  }

  async find(reference: string): Promise<OnboardingRow | null> {
    const found = await this.db.pool.query<Row>('select * from onboarding where reference = $1', [reference]);
    const row = found.rows[0];
    return row === undefined ? null : fromRow(row);
  }

  async list({ limit, cursor }: PageRequest): Promise<Page<OnboardingRow>> {
    if (cursor !== null && !/^\d{1,18}$/.test(cursor)) throw new BadCursor('not a cursor of this list');
    const found = await this.db.pool.query<Row>(
      'select * from onboarding where $1::bigint is null or seq < $1 order by seq desc limit $2',
      [cursor, limit + 1],
    );
    const rows = found.rows.slice(0, limit);
    const last = rows.at(-1);
    const more = found.rows.length > limit && last !== undefined;
    return { data: rows.map(fromRow), nextCursor: more ? (last['seq'] as string) : null };
  }

  async claim(reference: string, forMs: number): Promise<boolean> {
    const taken = await this.db.pool.query(
      `update onboarding set busy_until = ${laterSql(2, 3)} where reference = $1 and ${turnIsFree(2)}`,
      [reference, this.time.given(), forMs],
    );
    return taken.rowCount === 1;
  }

  async release(reference: string): Promise<void> {
    await this.db.pool.query('update onboarding set busy_until = null where reference = $1', [reference]);
  }

  async change(reference: string, { pollInMs, ...change }: OnboardingChange, ifStill?: Date): Promise<void> {
    const given = (Object.keys(change) as (keyof typeof change)[]).filter((f) => change[f] !== undefined);
    const sets = given.map((f, i) => `${COLUMNS[f]} = $${i + 4}`);
    const poll = pollInMs === undefined ? [] : [pollInMs];
    if (poll.length > 0) sets.push(`poll_at = ${laterSql(2, given.length + 4)}`);
    await this.db.pool.query(
      `update onboarding set ${[...sets, `updated_at = ${timeSql(2)}`].join(', ')}
        where reference = $1 and ($3::timestamptz is null or updated_at = $3)`,
      [reference, this.time.given(), ifStill ?? null, ...given.map((f) => written(f, change[f])), ...poll],
    );
  }

  async takeDue(limit: number, nextInMs: number): Promise<readonly OnboardingRow[]> {
    const taken = await this.db.pool.query<Row>(
      `update onboarding o set poll_at = ${laterSql(1, 3)}
         from (select reference from onboarding where poll_at <= ${timeSql(1)} order by poll_at limit $2 for update skip locked) due
        where o.reference = due.reference returning o.*`,
      [this.time.given(), limit, nextInMs],
    );
    return taken.rows.map(fromRow);
  }
}

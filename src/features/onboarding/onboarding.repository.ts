// Stores the merchants of the partner, one row for each reference.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { jsonText } from '../../frames/store/codec.js';
import { snake } from '../../frames/store/columns.js';
import { DatabaseTime, laterSql, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { newestFirst } from '../../frames/store/newest-first.js';
import { turnIsFree } from '../../frames/store/turns.js';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { OnboardingEntity } from './onboarding.entity.js';

/** A change of the row. `pollInMs`: the time until the next poll; null: no poll. */
export type OnboardingChange = Partial<Omit<OnboardingEntity, 'reference' | 'updatedAt'>> & {
  readonly pollInMs?: number | null;
};
type NewOnboarding = Pick<OnboardingEntity, 'reference' | 'productCode'> &
  Partial<Pick<OnboardingEntity, 'merchantId' | 'existing'>>;

const JSON_FIELDS: ReadonlySet<string> = new Set(['comments', 'merchant']);
const stored = (field: string, value: unknown): unknown =>
  JSON_FIELDS.has(field) && value !== null ? jsonText(value) : value;

@Injectable()
export class OnboardingRepository {
  private readonly rows = this.db.orm.getRepository(OnboardingEntity);

  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Stores a new row. A known reference stays as it is. `by`: the name of the API key or of the person. */
  async create({ reference, productCode, merchantId = null, existing = false }: NewOnboarding, by: string) {
    await this.db.pool.query(
      `insert into onboarding (reference, product_code, merchant_id, existing, status, comments, created_by, created_at, updated_at)
       values ($1, $2, $3, $4, 'requested', '[]', $5, ${timeSql(6)}, ${timeSql(6)}) on conflict (reference) do nothing`,
      [reference, productCode, merchantId, existing, by, this.time.given()],
    );
  }

  find(reference: string): Promise<OnboardingEntity | null> {
    return this.rows.findOneBy({ reference });
  }

  /** The merchants, newest first. Throws BadCursor. */
  list(page: PageRequest): Promise<Page<OnboardingEntity>> {
    return newestFirst(this.rows, 'seq', {}, { page, indexes: [] });
  }

  /** Locks the merchant for `forMs` milliseconds, to send a request. Returns false if another process has the lock. */
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

  /**
   * Changes the row and returns it as it is now. If somebody else has changed the row since it was read, for example a
   * newer read of the MoR, `ifUnchanged` keeps their change.
   */
  async change(
    { reference, updatedAt }: OnboardingEntity,
    { pollInMs, ...change }: OnboardingChange,
    { ifUnchanged = false } = {},
  ): Promise<OnboardingEntity> {
    const fields = Object.entries(change);
    const sets = fields.map(([field], i) => `${snake(field)} = $${i + 4}`);
    if (pollInMs !== undefined) sets.push(`poll_at = ${laterSql(2, fields.length + 4)}`);
    await this.db.pool.query(
      `update onboarding set ${[...sets, `updated_at = ${timeSql(2)}`].join(', ')}
        where reference = $1 and ($3::timestamptz is null or updated_at = $3)`,
      [
        ...[reference, this.time.given(), ifUnchanged ? updatedAt : null],
        ...fields.map(([field, value]) => stored(field, value)),
        ...(pollInMs === undefined ? [] : [pollInMs]),
      ],
    );
    return this.rows.findOneByOrFail({ reference });
  }

  /** Takes rows due for a poll, each for one replica. A row is due again after `nextInMs`. */
  async takeDue(limit: number, nextInMs: number): Promise<readonly OnboardingEntity[]> {
    const taken = await this.db.pool.query<{ reference: string }>(
      `update onboarding o set poll_at = ${laterSql(1, 3)}
         from (select reference from onboarding where poll_at <= ${timeSql(1)} order by poll_at limit $2 for update skip locked) due
        where o.reference = due.reference returning o.reference`,
      [this.time.given(), limit, nextInMs],
    );
    return this.rows.findBy({ reference: Any(taken.rows.map((r) => r.reference)) });
  }
}

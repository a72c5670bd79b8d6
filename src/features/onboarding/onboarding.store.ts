// Stores each merchant's onboarding.
import { Injectable } from '@nestjs/common';
import { Any } from 'typeorm';
import { type Page, type PageRequest } from '../../shared/domain/page.js';
import { ONBOARDING, type OnboardingRow } from '../../shared/domain/onboarding.js';
import { insertSql, jsonText, toJson } from '../../frames/store/codec.js';
import { DatabaseTime, laterSql, timeSql } from '../../frames/store/database-time.js';
import { Database } from '../../frames/store/database.js';
import { snake } from '../../frames/store/columns.js';
import { OnboardingEntity } from '../../frames/store/entities.js';
import { newestFirst } from '../../frames/store/newest-first.js';
import { turnIsFree } from '../../frames/store/turns.js';

/** A change of the row. `pollInMs`: the time until the next poll; null: no poll. */
export type OnboardingChange = Partial<Omit<OnboardingRow, 'reference' | 'updatedAt' | 'pollAt'>> & {
  readonly pollInMs?: number | null;
};

function written(field: keyof OnboardingRow, value: unknown): unknown {
  return ONBOARDING.columns[field].kind === 'json' && value !== null ? jsonText(value) : value;
}

@Injectable()
export class OnboardingStore {
  private readonly rows = this.db.orm.getRepository(OnboardingEntity);

  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /** Stores a new row. Returns false if the reference exists. */
  async create(row: OnboardingRow): Promise<boolean> {
    const sql = `${insertSql(ONBOARDING)} on conflict (reference) do nothing`;
    const made = await this.db.pool.query(sql, [jsonText([toJson(ONBOARDING, row)])]);
    return made.rowCount === 1;
  }

  find(reference: string): Promise<OnboardingRow | null> {
    return this.rows.findOneBy({ reference });
  }

  /** The merchants, newest first. Throws BadCursor. */
  list(page: PageRequest): Promise<Page<OnboardingRow>> {
    return newestFirst(this.rows, 'seq', {}, page, { indexes: [] });
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
   * Changes the row and sets `updated_at` to now. `ifStill`: the row's `updated_at` from before a read of the MoR. If
   * `updated_at` has changed since, the row stays unchanged.
   */
  async change(reference: string, { pollInMs, ...change }: OnboardingChange, ifStill?: Date): Promise<void> {
    const given = (Object.keys(change) as (keyof typeof change)[]).filter((f) => change[f] !== undefined);
    const sets = given.map((f, i) => `${snake(f)} = $${i + 4}`);
    const poll = pollInMs === undefined ? [] : [pollInMs];
    if (poll.length > 0) sets.push(`poll_at = ${laterSql(2, given.length + 4)}`);
    await this.db.pool.query(
      `update onboarding set ${[...sets, `updated_at = ${timeSql(2)}`].join(', ')}
        where reference = $1 and ($3::timestamptz is null or updated_at = $3)`,
      [reference, this.time.given(), ifStill ?? null, ...given.map((f) => written(f, change[f])), ...poll],
    );
  }

  /** Takes rows due for a poll, each for one replica. A row is due again after `nextInMs`. */
  async takeDue(limit: number, nextInMs: number): Promise<readonly OnboardingRow[]> {
    const taken = await this.db.pool.query<{ reference: string }>(
      `update onboarding o set poll_at = ${laterSql(1, 3)}
         from (select reference from onboarding where poll_at <= ${timeSql(1)} order by poll_at limit $2 for update skip locked) due
        where o.reference = due.reference returning o.reference`,
      [this.time.given(), limit, nextInMs],
    );
    return this.rows.findBy({ reference: Any(taken.rows.map((r) => r.reference)) });
  }
}

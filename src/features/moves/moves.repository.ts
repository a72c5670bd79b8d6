// Stores the moves of subscriptions, a row for each subscription. A lock lets only one command work at a time.
import { Injectable } from '@nestjs/common';
import { type Page } from '../../shared/domain/page.js';
import { type PageRequest } from '../../shared/domain/page.js';
import { jsonText } from '../../frames/store/codec.js';
import { DatabaseTime, timeSql } from '../../frames/store/database-time.js';
import { Database, onConnection } from '../../frames/store/database.js';
import { snake } from '../../frames/store/columns.js';
import { newestFirst } from '../../frames/store/newest-first.js';
import { MoveEntity } from './move.entity.js';
import { MOVE_STATUSES, type MoveStatus } from './move.rules.js';

/** The error if another `crossbill move` is running. */
export class MoveRunning extends Error {}

export type MoveFilter = {
  readonly status?: string | undefined;
  readonly customerId?: string | undefined;
};

export type MoveCounts = Readonly<Record<MoveStatus, number>>;

type Written = Omit<MoveEntity, 'seq' | 'version' | 'createdAt' | 'updatedAt'>;

const JSON_FIELDS: ReadonlySet<string> = new Set(['fact', 'before', 'request']);
const written = (field: string, value: unknown): unknown =>
  JSON_FIELDS.has(field) && value !== null ? jsonText(value) : value;

@Injectable()
export class MovesRepository {
  private readonly rows = this.db.orm.getRepository(MoveEntity);

  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Runs `work` under the lock of a transaction. So the lock ends with the process. The lock also works through a
   * pooler, because a pooler keeps a transaction on one connection.
   * @throws MoveRunning
   */
  exclusively<T>(work: () => Promise<T>): Promise<T> {
    return onConnection(this.db.pool, async (db) => {
      await db.query('begin');
      await db.query('set local idle_in_transaction_session_timeout = 0');
      const taken = await db.query<{ free: boolean }>('select pg_try_advisory_xact_lock(4812015) as free');
      if (taken.rows[0]?.free !== true) throw new MoveRunning('another move is running');
      try {
        return await work();
      } finally {
        await db.query('rollback');
      }
    });
  }

  find(subscriptionId: string): Promise<MoveEntity | null> {
    return this.rows.findOneBy({ subscriptionId });
  }

  /**
   * Inserts the row, or updates the row `before`. Throws MoveRunning if another command has written the row meanwhile.
   */
  async write(row: Written, before: MoveEntity | null): Promise<MoveEntity> {
    const fields = Object.keys(row) as (keyof Written)[];
    const values = fields.map((field) => written(field, row[field]));
    const at = timeSql(fields.length + 1);
    const version = fields.length + 2;
    const { rowCount } = await this.db.pool.query(
      before === null
        ? `insert into move (${fields.map(snake).join(', ')}, created_at, updated_at, version)
           values (${fields.map((_, i) => `$${i + 1}`).join(', ')}, ${at}, ${at}, $${version}) on conflict do nothing`
        : `update move set ${fields.map((f, i) => `${snake(f)} = $${i + 1}`).join(', ')}, updated_at = ${at}, version = version + 1
            where subscription_id = $${fields.indexOf('subscriptionId') + 1} and version = $${version}`,
      [...values, this.time.given(), before?.version ?? 0],
    );
    const now = rowCount === 1 ? await this.find(row.subscriptionId) : null;
    if (now === null) throw new MoveRunning(`another command moved ${row.subscriptionId} meanwhile`);
    return now;
  }

  /** Returns the given customers with a link to a MoR customer, and leaves out the others. */
  async linked(customerIds: readonly string[]): Promise<ReadonlySet<string>> {
    const { rows } = await this.db.pool.query<{ customer_id: string }>(
      'select distinct customer_id from customer_link where customer_id = any($1)',
      [customerIds],
    );
    return new Set(rows.map((r) => r.customer_id));
  }

  /** Customers with this reference on their link, the oldest link first. */
  async referenced(reference: string): Promise<readonly string[]> {
    const { rows } = await this.db.pool.query<{ customer_id: string }>(
      'select customer_id from customer_link where reference = $1 group by customer_id order by min(seq)',
      [reference],
    );
    return rows.map((r) => r.customer_id);
  }

  /** The rows for `--back` after the number `seq`, in the order of their numbers. */
  async toReturn(customerIds: readonly string[] | null, seq: string, limit: number): Promise<readonly MoveEntity[]> {
    const query = this.rows
      .createQueryBuilder('m')
      .where('m.seq > :seq and m.before is not null and m.status <> :returned', { seq, returned: 'returned' });
    if (customerIds !== null) query.andWhere('m.customer_id = any(:customerIds)', { customerIds });
    return query.orderBy('m.seq').limit(limit).getMany();
  }

  /** Lists moves. Throws BadCursor. */
  list({ status, customerId }: MoveFilter, page: PageRequest): Promise<Page<MoveEntity>> {
    return newestFirst(this.rows, 'seq', { customerId, status }, { page, indexes: [['customerId'], ['status']] });
  }

  async counts(): Promise<MoveCounts> {
    const { rows } = await this.db.pool.query<{ status: string; n: string }>(
      'select status, count(*) as n from move group by status',
    );
    const found = new Map(rows.map((r) => [r.status, Number(r.n)]));
    return Object.fromEntries(MOVE_STATUSES.map((s) => [s, found.get(s) ?? 0])) as MoveCounts;
  }
}

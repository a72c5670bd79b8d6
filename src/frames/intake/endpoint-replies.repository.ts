// Stores the replies of the webhook endpoints: counts by the hour, and the last refusals.
import { Injectable } from '@nestjs/common';
import { type EndpointReply, type EndpointRefusal } from '../../shared/domain/endpoint-replies.js';
import { Database, inTransaction } from '../store/database.js';

/** The age at which counts are deleted: enough to look back over a weekend. */
const KEPT = `interval '4 days'`;

/** The most stored refusals of each endpoint. */
const REFUSALS_KEPT = 200;

@Injectable()
export class EndpointRepliesRepository {
  constructor(private readonly db: Database) {}

  /** Adds to the stored counts, stores the refusals, and deletes old rows. */
  add(replies: readonly EndpointReply[], refusals: readonly EndpointRefusal[]): Promise<void> {
    return inTransaction(this.db.pool, async (db) => {
      // Every replica sorts the rows the same way, so two replicas cannot block each other.
      const rows = replies.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
      if (rows.length > 0) {
        await db.query(
          `insert into endpoint_answers as d (endpoint, hour, status, n)
           select endpoint, hour, status, n from json_populate_recordset(null::endpoint_answers, $1::json)
           on conflict (hour, endpoint, status) do update set n = d.n + excluded.n`,
          [JSON.stringify(rows)],
        );
        await db.query(`delete from endpoint_answers where hour < $1::timestamptz - ${KEPT}`, [rows[0]?.hour]);
      }
      if (refusals.length === 0) return;
      await db.query(
        `insert into endpoint_refusal (endpoint, at, status, why, address)
         select endpoint, at, status, why, address from json_populate_recordset(null::endpoint_refusal, $1::json)`,
        [JSON.stringify(refusals)],
      );
      for (const endpoint of new Set(refusals.map((r) => r.endpoint))) {
        await db.query(
          `delete from endpoint_refusal where endpoint = $1 and id <= (
             select id from endpoint_refusal where endpoint = $1 order by id desc offset $2 limit 1)`,
          [endpoint, REFUSALS_KEPT],
        );
      }
    });
  }

  /** The counts of replies for each hour from this time on, oldest first. */
  async replies(since: Date): Promise<readonly EndpointReply[]> {
    const found = await this.db.pool.query<Omit<EndpointReply, 'n'> & { readonly n: string }>(
      'select endpoint, hour, status, n from endpoint_answers where hour >= $1 order by hour, endpoint, status',
      [since],
    );
    return found.rows.map((r) => ({ ...r, n: Number(r.n) }));
  }

  /** The last refusals at each endpoint, newest first. */
  async refusals(ofEach: number): Promise<readonly EndpointRefusal[]> {
    const found = await this.db.pool.query<EndpointRefusal>(
      `select r.endpoint, r.at, r.status, r.why, r.address from unnest(array['stripe', 'mor_payments', 'mor_events']) d,
         lateral (select * from endpoint_refusal where endpoint = d order by id desc limit $1) r order by r.at desc`,
      [ofEach],
    );
    return found.rows;
  }
}

const keyOf = (endpointAnswer: EndpointReply): string =>
  `${endpointAnswer.hour.toISOString()} ${endpointAnswer.endpoint} ${endpointAnswer.status}`;

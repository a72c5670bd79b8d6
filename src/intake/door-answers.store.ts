// The answers of the webhook endpoints in the database: counts by the hour, and the last refusals.
import { Injectable } from '@nestjs/common';
import { type DoorAnswer, type DoorRefusal } from '../domain/door-answers.js';
import { Database, inTransaction } from '../store/database.js';

/** Long enough to look back 24 hours, or over a weekend. */
const KEPT = `interval '4 days'`;

/** Kept refusals of each endpoint. */
const REFUSALS_KEPT = 200;

@Injectable()
export class DoorAnswersStore {
  constructor(private readonly db: Database) {}

  /** Adds to the stored counts, and deletes rows older than some days. */
  add(answers: readonly DoorAnswer[], refusals: readonly DoorRefusal[]): Promise<void> {
    return inTransaction(this.db.pool, async (db) => {
      // In one order in every replica, so two replicas cannot block each other.
      const rows = answers.toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)));
      if (rows.length > 0) {
        await db.query(
          `insert into door_answers as d (door, hour, status, n)
           select door, hour, status, n from json_populate_recordset(null::door_answers, $1::json)
           on conflict (hour, door, status) do update set n = d.n + excluded.n`,
          [JSON.stringify(rows)],
        );
        await db.query(`delete from door_answers where hour < $1::timestamptz - ${KEPT}`, [rows[0]?.hour]);
      }
      if (refusals.length === 0) return;
      await db.query(
        `insert into door_refusal (door, at, status, why, address)
         select door, at, status, why, address from json_populate_recordset(null::door_refusal, $1::json)`,
        [JSON.stringify(refusals)],
      );
      for (const door of new Set(refusals.map((r) => r.door))) {
        await db.query(
          `delete from door_refusal where door = $1 and id <= (
             select id from door_refusal where door = $1 order by id desc offset $2 limit 1)`,
          [door, REFUSALS_KEPT],
        );
      }
    });
  }

  /** The hours that begin at this time or later, oldest first. */
  async answers(since: Date): Promise<readonly DoorAnswer[]> {
    const found = await this.db.pool.query<Omit<DoorAnswer, 'n'> & { readonly n: string }>(
      'select door, hour, status, n from door_answers where hour >= $1 order by hour, door, status',
      [since],
    );
    return found.rows.map((r) => ({ ...r, n: Number(r.n) }));
  }

  /** The last refusals of each endpoint, newest first. */
  async refusals(ofEach: number): Promise<readonly DoorRefusal[]> {
    const found = await this.db.pool.query<DoorRefusal>(
      `select r.door, r.at, r.status, r.why, r.address from unnest(array['stripe', 'mor_payments', 'mor_events']) d,
         lateral (select * from door_refusal where door = d order by id desc limit $1) r order by r.at desc`,
      [ofEach],
    );
    return found.rows;
  }
}

const keyOf = (a: DoorAnswer): string => `${a.hour.toISOString()} ${a.door} ${a.status}`;

// Signups, customer links and remembered requests in PostgreSQL.
import { Injectable } from '@nestjs/common';
import type pg from 'pg';
import { Ids } from '../domain/ports/clock.js';
import {
  type NamedRequest,
  type Remembered,
  type RequestName,
  Requests,
  type SignupRow,
  Signups,
} from '../domain/ports/signups.js';
import { SIGNUP_ENDS_MS, SIGNUP_FLAGGED_WITHIN_MS } from '../policy.js';
import { insertSql, jsonText, SIGNUP, toJson } from './codec.js';
import { DatabaseTime, laterSql, readTime, timeSql } from './database-time.js';
import { Database, inTransaction } from './database.js';
import { SignupEntity } from './entities/signup.entity.js';
import { turnIsFree } from './turns.js';

/** Inserts the name, or gives what it stands for already. Waits for a transaction that is just inserting the same name. */
export async function rememberIn(
  db: pg.Pool | pg.PoolClient,
  name: RequestName,
  bodySha256: Buffer,
  objectId: string,
  /** Null: now. */
  at: Date | null,
): Promise<Remembered> {
  const made = await db.query(
    `insert into api_request (api_key, method, path, idempotency_key, body_sha256, object_id, created_at)
     values ($1, $2, $3, $4, $5, $6, ${timeSql(7)}) on conflict do nothing`,
    [name.apiKey, name.method, name.path, name.idempotencyKey, bodySha256, objectId, at],
  );
  return made.rowCount === 1 ? { known: false } : recallIn(db, name, bodySha256);
}

/** What a request of this name made before. */
export async function recallIn(
  db: pg.Pool | pg.PoolClient,
  name: RequestName,
  bodySha256: Buffer,
): Promise<Remembered> {
  const found = await db.query<{ body_sha256: Buffer; object_id: string }>(
    'select body_sha256, object_id from api_request where api_key = $1 and method = $2 and path = $3 and idempotency_key = $4',
    [name.apiKey, name.method, name.path, name.idempotencyKey],
  );
  const row = found.rows[0];
  if (row === undefined) return { known: false };
  return { known: true, sameBody: row.body_sha256.equals(bodySha256), objectId: row.object_id };
}

@Injectable()
export class PgRequests extends Requests {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {
    super();
  }

  recall(name: RequestName, bodySha256: Buffer): Promise<Remembered> {
    return recallIn(this.db.pool, name, bodySha256);
  }

  remember(name: RequestName, bodySha256: Buffer, objectId: string): Promise<Remembered> {
    return rememberIn(this.db.pool, name, bodySha256, objectId, this.time.given());
  }
}

@Injectable()
export class PgSignups extends Signups {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
    private readonly ids: Ids,
  ) {
    super();
  }

  async create(signup: SignupRow, name: NamedRequest | null): Promise<Remembered> {
    return inTransaction(this.db.pool, async (db) => {
      if (name !== null) {
        const known = await rememberIn(db, name, name.bodySha256, signup.id, this.time.given());
        if (known.known) return known;
      }
      const made = { ...signup, createdAt: await readTime(db, this.time) };
      await db.query(insertSql(SIGNUP), [jsonText([toJson(SIGNUP, made)])]);
      return { known: false };
    });
  }

  async find(id: string): Promise<SignupRow | null> {
    return this.db.orm.getRepository(SignupEntity).findOneBy({ id });
  }

  async claim(id: string, forMs: number): Promise<boolean> {
    const taken = await this.db.pool.query(
      `update signup set busy_until = ${laterSql(2, 3)} where id = $1 and ${turnIsFree(2)}`,
      [id, this.time.given(), forMs],
    );
    return taken.rowCount === 1;
  }

  async answered(id: string, a: { intentId: string; morCustomerId: string; status: string }): Promise<void> {
    await inTransaction(this.db.pool, async (db) => {
      const found = await db.query<{ customer_id: string }>(
        `update signup set intent_id = coalesce(intent_id, $2), mor_customer_id = coalesce(mor_customer_id, $3), status = $4, busy_until = null
          where id = $1 returning customer_id`,
        [id, a.intentId, a.morCustomerId, a.status],
      );
      await db.query(
        `insert into customer_link (customer_id, mor_customer_id, signup_id, linked_at) values ($1, $2, $3, ${timeSql(4)}) on conflict do nothing`,
        [found.rows[0]?.customer_id, a.morCustomerId, id, this.time.given()],
      );
    });
  }

  async unanswered(id: string, status: 'requested' | 'refused'): Promise<void> {
    await this.db.pool.query(
      `update signup set busy_until = null, status = case when intent_id is null then $2 else status end where id = $1`,
      [id, status],
    );
  }

  async rebind(
    id: string,
    to: { readonly taxCalculationId: string; readonly morKey: string; readonly body: string | null },
  ): Promise<void> {
    await this.db.pool.query(
      'update signup set tax_calculation_id = $2, mor_key = $3, body = $4, recalculated = true where id = $1 and intent_id is null',
      [id, to.taxCalculationId, to.morKey, to.body],
    );
  }

  async proven(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const found = await this.db.pool.query<{ id: string }>(
      `select s.id from signup s
        where s.id = any($1)
          and (s.kind = 'payment' and exists (select 1 from payment p where p.id = s.payment_row_id and p.succeeded_at is not null)
            or s.kind <> 'payment' and s.confirmed_at is not null)`,
      [ids],
    );
    return new Set(found.rows.map((r) => r.id));
  }

  async completed(id: string, by: { invoiceId: string; chargeId: string; paymentRowId: string }): Promise<void> {
    await inTransaction(this.db.pool, async (db) => {
      const now = await readTime(db, this.time);
      await db.query(
        `update signup set invoice_id = $2, charge_id = $3, payment_row_id = $4, completed_at = coalesce(completed_at, $5) where id = $1`,
        [id, by.invoiceId, by.chargeId, by.paymentRowId, now],
      );
      await db.query(
        `update review set status = 'resolved', resolved_at = $2, resolved_by = 'crossbill', resolution = 'cleared', note = 'the signup was completed'
          where kind = 'signup_overdue' and subject = $1 and status = 'open'`,
        [id, now],
      );
    });
  }

  async flagOverdue(afterMs: number): Promise<number> {
    const now = await readTime(this.db.pool, this.time);
    const before = new Date(now.getTime() - afterMs);
    const overdue = await this.db.pool.query<{ id: string; customer_id: string; created_at: Date }>(
      `select s.id, s.customer_id, s.created_at from signup s
        where s.kind = 'payment' and s.completed_at is null and s.created_at < $1 and s.created_at >= $2 and s.intent_id is not null
          -- Looked for one by one: all items that there ever were are more than the signups of a month.
          and (select 1 from review r where r.kind = 'signup_overdue' and r.subject = s.id limit 1) is null
        order by s.created_at limit 500`,
      [before, new Date(before.getTime() - SIGNUP_FLAGGED_WITHIN_MS)],
    );
    for (const s of overdue.rows) {
      await this.db.pool.query(
        `insert into review (id, kind, status, subject, summary, proposal, due_at, created_at)
         values ($1, 'signup_overdue', 'open', $2, $3, $4, $5, $6) on conflict do nothing`,
        [
          this.ids.next('rev'),
          s.id,
          `signup ${s.id} of customer ${s.customer_id} has no payment since ${s.created_at.toISOString()}`,
          'Stripe ends an incomplete subscription 23 hours after it was made. If the customer paid, complete the signup with the charge id; if not, dismiss this.',
          new Date(s.created_at.getTime() + SIGNUP_ENDS_MS),
          now,
        ],
      );
    }
    return overdue.rows.length;
  }
}

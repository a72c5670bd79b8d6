// Stores signups and their customer links.
import { Injectable } from '@nestjs/common';
import { ofSignup } from '../../shared/domain/events/own-event.js';
import { type NamedRequest, type Remembered } from '../../shared/domain/request-name.js';
import { SIGNUP, type SignupRow } from '../../shared/domain/signup.js';
import { SIGNUP_FLAGGED_WITHIN_MS } from '../../shared/policy.js';
import { insertSql, jsonText, toJson } from '../../frames/store/codec.js';
import { DatabaseTime, laterSql, readTime, timeSql } from '../../frames/store/database-time.js';
import { tellLanes } from '../../frames/store/own-events.js';
import { rememberIn } from '../../frames/store/requests.js';
import { type LeftOutQuestion } from '../../engine/lookup.js';
import { Database, inTransaction } from '../../frames/store/database.js';
import { SignupEntity } from '../../frames/store/entities.js';
import { CHOSEN_AT } from '../../frames/store/mor-customers.js';
import { turnIsFree } from '../../frames/store/turns.js';

@Injectable()
export class SignupsRepository {
  constructor(
    private readonly db: Database,
    private readonly time: DatabaseTime,
  ) {}

  /**
   * Stores a new signup at the database's time. If the request (`name`) is a repeat, stores nothing and returns the
   * earlier signup's id.
   */
  async create(signup: SignupRow, name: NamedRequest | null): Promise<Remembered> {
    return inTransaction(this.db.pool, async (db) => {
      if (name !== null) {
        const known = await rememberIn(db, name, {
          bodySha256: name.bodySha256,
          objectId: signup.id,
          at: this.time.given(),
        });
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

  /** Locks a signup for `forMs` milliseconds, to send its request. Returns false if another process has the lock. */
  async claim(id: string, forMs: number): Promise<boolean> {
    const taken = await this.db.pool.query(
      `update signup set busy_until = ${laterSql(2, 3)} where id = $1 and ${turnIsFree(2)}`,
      [id, this.time.given(), forMs],
    );
    return taken.rowCount === 1;
  }

  /** Records the MoR's reply: the intent, and the customer's permanent link. */
  async answered(id: string, one: { intentId: string; morCustomerId: string; status: string }): Promise<void> {
    await inTransaction(this.db.pool, async (db) => {
      const found = await db.query<{ customer_id: string }>(
        `update signup set intent_id = coalesce(intent_id, $2), mor_customer_id = coalesce(mor_customer_id, $3), status = $4, busy_until = null
          where id = $1 returning customer_id`,
        [id, one.intentId, one.morCustomerId, one.status],
      );
      await db.query(
        `insert into customer_link (customer_id, mor_customer_id, signup_id, linked_at) values ($1, $2, $3, ${timeSql(4)}) on conflict do nothing`,
        [found.rows[0]?.customer_id, one.morCustomerId, id, this.time.given()],
      );
    });
  }

  /** Records a refusal or a missing reply of the MoR. The next try may begin at once. */
  async unanswered(id: string, status: 'requested' | 'refused'): Promise<void> {
    await this.db.pool.query(
      `update signup set busy_until = null, status = case when intent_id is null then $2 else status end where id = $1`,
      [id, status],
    );
  }

  /**
   * Replaces the signup's tax calculation, the stored request to the MoR and the request's idempotency key. Does
   * nothing if the MoR has already made the intent.
   */
  async rebind(
    id: string,
    to: { readonly taxCalculationId: string; readonly morKey: string; readonly body: string | null },
  ): Promise<void> {
    await this.db.pool.query(
      'update signup set tax_calculation_id = $2, mor_key = $3, body = $4, recalculated = true where id = $1 and intent_id is null',
      [id, to.taxCalculationId, to.morKey, to.body],
    );
  }

  /**
   * Returns the complete signups among these ids. A payment is complete with a proven charge. A trial is complete if
   * its method counts as confirmed, because the MoR has no read and no event for a confirmed setup.
   */
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
      // The update above locks the signup's row, and `tellOverdue` skips locked rows. So no `signup.overdue` event can
      // appear between this query and the commit.
      const overdue = ofSignup({ type: 'signup.overdue', signup: id, customer: '', since: '' });
      const sentEvents = await db.query(`select 1 from inbox_event where source = 'crossbill' and event_id = $1`, [
        overdue.id,
      ]);
      if (sentEvents.rowCount !== 0)
        await tellLanes(db, [ofSignup({ type: 'signup.completed', signup: id })], this.time);
    });
  }

  /** Stores one event for each signup still incomplete after `afterMs` milliseconds. Returns the number of events. */
  async tellOverdue(afterMs: number): Promise<number> {
    return inTransaction(this.db.pool, async (db) => {
      const before = new Date((await readTime(db, this.time)).getTime() - afterMs);
      const overdue = await db.query<{ id: string; customer_id: string; created_at: Date }>(
        `select s.id, s.customer_id, s.created_at from signup s
          where s.kind = 'payment' and s.completed_at is null and s.created_at < $1 and s.created_at >= $2 and s.intent_id is not null
            -- Looked for one by one: the inbox has more events than a month has signups.
            and (select 1 from inbox_event e where e.source = 'crossbill' and e.event_id = 'signup.overdue:' || s.id limit 1) is null
          order by s.created_at limit 500 for no key update of s skip locked`,
        [before, new Date(before.getTime() - SIGNUP_FLAGGED_WITHIN_MS)],
      );
      const sentEvents = overdue.rows.map(({ id: signup, customer_id: customer, created_at: at }) =>
        ofSignup({ type: 'signup.overdue', signup, customer, since: at.toISOString() }),
      );
      return sentEvents.length === 0 ? 0 : tellLanes(db, sentEvents, this.time);
    });
  }

  /**
   * Trials with a tax calculation, made between these times, whose customers the MoR has not charged since; newest
   * first.
   */
  async uncharged(from: Date, to: Date, limit: number): Promise<readonly SignupRow[]> {
    return this.db.orm
      .getRepository(SignupEntity)
      .createQueryBuilder('s')
      .where(`s.kind = 'trial' and s.tax_calculation_id is not null and s.intent_id is not null`)
      .andWhere('s.created_at > :from and s.created_at < :to', { from, to })
      .andWhere(
        'not exists (select from payment p where p.customer_id = s.customer_id and p.succeeded_at > s.created_at)',
      )
      .orderBy('s.seq', 'DESC')
      .take(limit)
      .getMany();
  }

  /**
   * True if the customer pays by bank debit. Document 3 does not show a renewal's debit before it settles, so the
   * customer's last confirmed signup decides. True for a trial with a saved bank debit and no card, and for a payment that the
   * MoR settled after more than an hour.
   */
  async paysByDebit(customerId: string): Promise<boolean> {
    const found = await this.db.pool.query<{ kind: string; body: string | null; slow: boolean }>(
      `select s.kind, s.body, exists (select from payment p
                where p.customer_id = $1 and p.signup_id = s.id and p.pending_since is not null
                  and coalesce(p.succeeded_at, ${timeSql(2)}) > p.pending_since + interval '1 hour') as slow
         from signup s where s.customer_id = $1 and s.intent_id is not null order by s.confirmed_at is null, ${CHOSEN_AT} desc, s.seq desc limit 1`,
      [customerId, this.time.given()],
    );
    const newest = found.rows[0];
    if (newest === undefined) return false;
    return newest.kind === 'payment' ? newest.slow : savesOnlyDebits(newest.body);
  }

  /**
   * True if the MoR has a payment method of the customer (it took money, a setup was confirmed, or somebody linked the
   * customer by hand or by an import), and the customer made no signup since this time.
   */
  async leavesOut({ customerId, since }: LeftOutQuestion): Promise<boolean> {
    const found = await this.db.pool.query<{ left_out: boolean }>(
      `select not exists (select from signup where customer_id = $1 and created_at >= $2)
          and (exists (select from payment where customer_id = $1 and succeeded_at is not null)
            or exists (select from signup where customer_id = $1 and confirmed_at is not null)
            or exists (select from customer_link where customer_id = $1 and signup_id is null)) as left_out`,
      [customerId, since],
    );
    return found.rows[0]?.left_out === true;
  }
}

/** The payment method types of Document 3 for bank debits. */
const DEBITS = new Set(['us_bank_account', 'sepa_debit', 'bacs_debit', 'au_becs_debit']);

/**
 * True if the setup intent's request allows bank debits only. Without types the MoR saves a card (Document 3). Null: an
 * erasure removed the request.
 */
function savesOnlyDebits(body: string | null): boolean {
  const request: unknown = JSON.parse(body ?? '{}');
  const types: unknown =
    typeof request === 'object' && request !== null && 'payment_method_types' in request
      ? request.payment_method_types
      : [];
  return Array.isArray(types) && types.length > 0 && types.every((type) => DEBITS.has(String(type)));
}

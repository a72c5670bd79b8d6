// A rebuild, one moment and pages a statement reads, in a real PostgreSQL.
import { parsedEvents } from '../support/fakes/parsed-events.js';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { fillBooks } from '../../packages/bench/src/fill-books.js';
import { PgLaneRepository } from '../../src/engine/pg-lane.repository.js';
import { ReadModel } from '../../src/engine/read-model.js';
import { Rebuild } from '../../src/engine/rebuild.js';
import { PaymentsRepository } from '../../src/core/payments/payments.repository.js';
import { askRefund } from '../support/rigs/ask-refund.js';
import { Database } from '../../src/frames/store/database.js';
import { PgInbox } from '../../src/frames/store/inbox.repository.js';
import {
  INVOICE_ID,
  aPaymentFailed,
  aPaymentSucceeded,
  aRefund,
  anInvoice,
  invoiceEvent,
} from '../support/builders/events.js';
import { ManualClock } from '../support/fakes/clock.js';
import { type TestDatabase, freshDatabase } from '../support/rigs/database.js';
import { databaseForAll } from '../support/rigs/use-database.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import {
  type Plan,
  type Statement,
  decided,
  listenTo,
  nextTime,
  pagesIn,
  rested,
  rowsBefore,
  unclaimed,
} from '../support/rigs/lane-steps.js';

// An invoice's rows in the read model come from its log: after a loss they are the same again.
describe('A rebuild', () => {
  let x: LaneOnPostgres;
  laneForEach(async (opened) => {
    x = opened;
    const { harness } = x;
    harness.platform.put(anInvoice());
    harness.platform.put(anInvoice({ invoiceId: 'in_elm' }));
    await harness.take(invoiceEvent('invoice.created'), aPaymentFailed({ paymentId: 'pay_first' }));
    harness.clock.advance(1_000);
    await harness.take(aPaymentSucceeded(), invoiceEvent('invoice.created', { invoiceId: 'in_elm' }));
    const [payment] = (await harness.state(INVOICE_ID)).payments.filter((p) => p.status === 'succeeded');
    harness.gateway.trouble.push('lost-request');
    const asked = { amount: 300n, reason: null, metadata: {}, by: 'ops' } as never;
    await harness.command(INVOICE_ID, (s, ctx) => askRefund(s, payment?.id ?? '', asked, ctx));
    await harness.drain();
  });

  const TABLES = ['invoice', 'payment', 'refund', 'review', 'mor_object', 'open_call'];

  /** Every read row but for its number. */
  async function readRows(): Promise<string> {
    const rows = await Promise.all(
      TABLES.map((t) =>
        x.db.pool.query(`select '${t}' as t, (to_jsonb(r) - 'seq')::text as row from ${t} r order by 2`),
      ),
    );
    return rows
      .flatMap((found) => found.rows as { t: string; row: string }[])
      .map((r) => `${r.t} ${r.row}`)
      .join('\n');
  }

  it('a rebuild of the read model changes nothing if its rows agree with the logs', async () => {
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 0, failed: [] });
  });

  it('a rebuild of the read model restores changed and lost rows and counts their invoices', async () => {
    const before = await readRows();
    expect(before).toContain('refund {');
    expect(before).toContain('open_call {');
    await x.db.pool.query(`update invoice set status = 'void' where invoice_id = $1`, [INVOICE_ID]);
    await x.db.pool.query(`update payment set mark = 'parked', amount_refunded = 1000`);
    await x.db.pool.query('delete from refund; delete from open_call');
    expect(await readRows()).not.toBe(before);
    const checked = await new Rebuild(x.db).run(true, () => undefined);
    expect(checked).toEqual({ lanes: 2, differed: 1, failed: [] });
    expect(await readRows()).not.toBe(before);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(checked);
    expect(await readRows()).toBe(before);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 0, failed: [] });
  });

  it('a rebuild of the read model removes the row of a refund that Crossbill merged into another refund', async () => {
    const { harness } = x;
    const [payment] = (await harness.state(INVOICE_ID)).payments.filter((p) => p.status === 'succeeded');
    harness.gateway.payments.set('pay_oak', { minor: 1000n, currency: 'EUR', refunded: 0n });
    await harness.take(aRefund({ refundId: 'rfnd_api1', processorRefundId: 're_api1', amount: 200 }));
    const asked = { amount: 200n, reason: null, metadata: {}, by: 'ops' } as never;
    await harness.command(INVOICE_ID, (s, ctx) => askRefund(s, payment?.id ?? '', asked, ctx));
    await x.db.pool.query('create table before_join as select * from refund');
    await harness.drain();
    const joined = await readRows();
    expect((await harness.state(INVOICE_ID)).refunds.map((r) => r.status)).toContain('joined');
    expect(joined.match(/^refund /gm)).toHaveLength(2);
    await x.db.pool.query(
      'insert into refund overriding system value select * from before_join where id not in (select id from refund)',
    );
    expect((await readRows()).match(/^refund /gm)).toHaveLength(3);
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual({ lanes: 2, differed: 1, failed: [] });
    expect(await readRows()).toBe(joined);
  });

  it('a rebuild of the read model names an invoice with an unreadable log and goes on with the other invoices', async () => {
    await x.db.pool.query(
      `insert into lane_log (lane, version, at, at_rest, snapshot, change)
       select lane, max(version) + 1, max(at), true, false, '{"f":99}' from lane_log where lane = $1 group by lane`,
      [INVOICE_ID],
    );
    await x.db.pool.query(`update invoice set status = 'void' where invoice_id = 'in_elm'`);
    const why = expect.stringContaining('has format 99');
    const done = { lanes: 2, differed: 1, failed: [{ lane: INVOICE_ID, why }] };
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(done);
    const { rows } = await x.db.pool.query(`select status from invoice where invoice_id = 'in_elm'`);
    expect(rows).toEqual([{ status: 'expected' }]);
  });

  it('a rebuild of the read model corrects two payment rows with swapped payment ids', async () => {
    await x.harness.take(aPaymentSucceeded({ invoiceId: 'in_elm', paymentId: 'pay_elm', chargeId: 'ch_elm' }));
    const before = await readRows();
    const rename = 'update payment set payment_id = $2 where payment_id = $1';
    for (const [from, to] of [
      ['pay_oak', 'pay_x'],
      ['pay_elm', 'pay_oak'],
    ])
      await x.db.pool.query(rename, [from, to]);
    const done = { lanes: 2, differed: 2, failed: [] };
    expect(await new Rebuild(x.db).run(false, () => undefined)).toEqual(done);
    expect(await readRows()).toBe(before);
  });

  it('a rebuild of the read model makes all rows from empty tables, in the order the invoices arrived', async () => {
    const before = await readRows();
    await x.db.pool.query(`truncate ${TABLES.join(', ')}`);
    expect((await new Rebuild(x.db).run(false, () => undefined)).differed).toBe(2);
    expect(await readRows()).toBe(before);
    const { rows } = await x.db.pool.query('select invoice_id from invoice order by seq');
    expect(rows).toEqual([{ invoice_id: INVOICE_ID }, { invoice_id: 'in_elm' }]);
  });
});

// A payment shows as of one moment: a step of its lane writes the payment and its refunds together, and a reader sees
// both or neither.
describe('Reads during writes', () => {
  const READS = 300;

  let db: Database;
  databaseForAll(async (opened) => {
    db = opened;
    await db.pool.query(
      `insert into invoice (invoice_id, customer_id, status, platform_status, first_seen_at) values ('in_1', 'cus_1', 'paid', 'paid', now());
     insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, succeeded_at, mark, recorded_at)
     values ('pmt_1', 'pay_1', 'in_1', 'cus_1', 'renewal', 'succeeded', 1000, 'eur', now(), 'confirmed', now());
     insert into refund (id, payment_row_id, invoice_id, amount, currency, status, origin, counted, mirror, created_at)
     values ('ref_1', 'pmt_1', 'in_1', 600, 'eur', 'unknown', 'api', false, 'waiting', now());`,
    );
  }, 3);

  it("a payment's refunded amount agrees with its refunds in every read, even while both change", async () => {
    const [books, payments] = [new ReadModel(db), new PaymentsRepository(db)];
    let over = false;
    const steps = async (): Promise<number> => {
      let n = 0;
      for (; !over; n++) {
        const refunded = n % 2 === 0;
        await db.pool.query(
          `with r as (update refund set status = $1 where id = 'ref_1')
         update payment set amount_refunded = $2 where id = 'pmt_1'`,
          [refunded ? 'succeeded' : 'unknown', refunded ? 600 : 0],
        );
      }
      return n;
    };
    const stepping = steps();
    const torn: string[] = [];
    for (let n = 0; n < READS; n++) {
      const one =
        n % 2 === 0 ? await books.payment('pay_1') : (await payments.list({}, { limit: 1, cursor: null })).data[0];
      const said = [one?.payment.amountRefunded, one?.refunds[0]?.status].join(' ');
      if (said !== '600 succeeded' && said !== '0 unknown') torn.push(said);
    }
    over = true;
    expect(await stepping).toBeGreaterThan(READS / 2);
    expect(torn).toEqual([]);
  });
});

// The reads of the hot path's statements: the pages of their rows and no more, at any size, under any statistics, and
// with plans without values. The test ignores the look of a plan.
describe('Pages a statement reads', () => {
  const RENEWALS = 10_000;
  /** Due, and taken 12 at once. */
  const [DUE, TAKEN] = [2_000, 12];
  /** A look-up in an index is two to four pages, and a claim makes half a dozen of them for each lane. A whole table here has hundreds. */
  const PAGES_A_LANE = 5;
  const PAGES_A_STEP = 60; // some thirty index entries, of two pages each
  const PAGES_A_CLAIMED_LANE = 25;
  const PAGES_AT_ALL = 30;

  let fresh: TestDatabase;
  let db: Database;
  const clock = new ManualClock();
  const sent: Statement[] = [];

  beforeAll(async () => {
    fresh = await freshDatabase();
    db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
    const tables = await db.pool.query<{ name: string }>(
      `select quote_ident(tablename) as name from pg_tables where schemaname = 'public' and tablename <> 'event_body'`,
    );
    for (const { name } of tables.rows) await db.pool.query(`alter table ${name} set (autovacuum_enabled = off)`);
    await fillBooks(fresh.url, RENEWALS);
    // As if nobody had ever counted: after a restore, or on a server without autovacuum.
    await db.pool.query(
      `delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = 'public'::regnamespace)`,
    );
    await db.pool.query(`update pg_class set relpages = 0, reltuples = -1 where relnamespace = 'public'::regnamespace`);
    const inbox = new PgInbox(db, clock);
    for (let n = 0; n < DUE; n += 250) {
      const some = Array.from({ length: 250 }, (_, k) => n + k);
      await inbox.store(some.map((k) => aPaymentSucceeded({ invoiceId: `in_${k}`, paymentId: `pay_${k}` })));
    }
    for (const pool of [db.pool, db.intake]) listenTo(pool, sent);
  }, 60_000);
  afterAll(async () => {
    await db.close();
    await fresh.drop();
  });

  /** The statements of a delivery and of the steps of some lanes, as the code sends them; nothing of it stays due. */
  async function wholePath(round: string): Promise<readonly (readonly [what: string, pages: number])[]> {
    const lanes = new PgLaneRepository(db, clock, { parsed: parsedEvents() });
    await new PgInbox(db, clock).store([aPaymentSucceeded({ eventId: `evt_${round}` })]);
    const claims = await lanes.claim('w', TAKEN, 25_000);
    expect(claims).toHaveLength(TAKEN);
    const out: (readonly [string, number])[] = [];
    for (const decide of [decided, rested]) {
      await Promise.all(claims.map(({ lane, fence }) => lanes.transact({ lane, fence, decide })));
      const statements = [...new Map(sent.map((s) => [s.text, s])).values()];
      sent.length = 0;
      if (decide === rested) {
        // A repeat finds the lanes gone from the queue and may write no row: so it goes without a claim.
        for (const s of statements) s.values.splice(0, s.values.length, ...unclaimed(s.values));
      }
      out.push(...(await pagesOf(statements)));
    }
    return out;
  }

  /** The pages touched by each statement, planned without its values. */
  async function pagesOf(
    statements: readonly Statement[],
  ): Promise<readonly (readonly [what: string, pages: number])[]> {
    const client = await db.pool.connect();
    const out: [string, number][] = [];
    try {
      await client.query('begin; set local plan_cache_mode = force_generic_plan');
      for (const { text, values } of statements) {
        const before = rowsBefore(values);
        if (before !== null) await client.query(before);
        const found = await client.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>({
          text: `explain (analyze, buffers, format json) ${text}`,
          values: values.map(nextTime),
        });
        out.push([text, pagesIn(found.rows[0]?.['QUERY PLAN'][0].Plan)]);
      }
      await client.query('rollback');
    } finally {
      client.release();
    }
    return out;
  }

  it.each([
    ['without any statistics', null],
    ['with statistics', 'analyze'],
  ])("a renewal's SQL statements read few pages for each invoice, %s of PostgreSQL", async (name, before) => {
    if (before !== null) await db.pool.query(before);
    sent.length = 0;
    const pages = await wholePath(name);
    // Intake, claim, one read and a step; then the step at rest.
    expect(pages.length).toBeGreaterThanOrEqual(5);
    const most = (text: string): number =>
      PAGES_AT_ALL +
      TAKEN *
        (text.includes('lane_fence') ? PAGES_A_CLAIMED_LANE : text.startsWith('with w_') ? PAGES_A_STEP : PAGES_A_LANE);
    const tooMany = pages.filter(([text, n]) => !(n <= most(text)));
    expect(tooMany).toEqual([]);
  });
});

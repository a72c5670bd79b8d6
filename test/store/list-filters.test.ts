// Filtered lists: each row once and in order, under any filter, and a page reads few pages of the tables, however large
// they are.
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { fillBooks } from '../../packages/bench/src/fill-books.js';
import { questions } from '../../packages/bench/src/growth-questions.js';
import { Database } from '../../src/frames/store/database.js';
import { PaymentsRepository } from '../../src/core/payments/payments.repository.js';
import { LOOKED_THROUGH } from '../../src/frames/store/walk.js';
import { type LedgerFilter, LedgerRepository } from '../../src/core/ledger/ledger.repository.js';
import { type Page } from '../../src/shared/domain/page.js';
import { type PaymentFilter } from '../../src/core/payments/payments.repository.js';
import { freshDatabase, type TestDatabase } from '../support/rigs/database.js';
import { databaseForAll } from '../support/rigs/use-database.js';
import { pagesIn, type Plan } from '../support/rigs/lane-steps.js';

/** As many invoices and payments, twice as many events and ledger entries, three times as many steps of the log. */
const RENEWALS = 50_000;
/** A look-up in an index is two to four pages; a page of twenty rows with their neighbours makes a hundred of them. */
const PAGES = 260;
/** Before 17, PostgreSQL looks each of twenty ids up from the root of an index, or scans a small index instead. */
const MORE_BEFORE_17 = 100;
/** Twenty minutes of entries, and some twenty look-ups by number, cost this when the number finds the time. */
const PAGES_BY_NUMBER = 400;
/**
 * The rows a page looks through at most lie in so many more pages: each of these tables has at least 20 rows in one,
 * and half of them have changed since.
 */
const LOOKED_THROUGH_PAGES = (2 * LOOKED_THROUGH) / 10;

type Sent = { readonly text: string; readonly values: unknown[] };

describe('list filters over 50,000 renewals', () => {
  let fresh: TestDatabase;
  let db: Database;
  const sent: Sent[] = [];
  beforeAll(async () => {
    fresh = await freshDatabase();
    await fillBooks(fresh.url, RENEWALS);
    db = await Database.open({ url: fresh.url, poolSize: 2, onError: () => undefined });
    // Somebody recorded some entries of old months late.
    await db.pool.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       select 'mor_receivable', 'unmarked_payments', 100, 'EUR', 'payment_collected', 'late' || n, 'in_late' || n, 'pmt_late' || n,
              now() - interval '385 days', now() - interval '1 day' from generate_series(1, 200) as n`,
    );
    await db.pool.query('vacuum analyze ledger_entry');
    listen(db, sent);
  }, 150_000);
  afterAll(async () => {
    await db.close();
    await fresh.drop();
  });

  async function pagesOf({ text, values }: Sent): Promise<number> {
    const explained = await db.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, buffers, format json) ${text}`,
      values,
    );
    return pagesIn(explained.rows[0]?.['QUERY PLAN'][0].Plan);
  }

  it('each list filter reads few database pages of 50,000 renewals, or stops at its row limit if no index fits', async () => {
    const lists = questions(db, `old${RENEWALS / 2}`, RENEWALS / 2).filter(({ what }) => /\bof\b|list/.test(what));
    expect(lists.length).toBeGreaterThan(30);
    // As the daemon keeps it: the sums of days are close behind the entries.
    await db.pool.query('update ledger_fold set up_to = (select max(id) from ledger_entry)');
    const usual = PAGES + (db.server.version < 170_000 ? MORE_BEFORE_17 : 0);
    const tooMany: string[] = [];
    for (const { what, ask, looksThrough } of lists) {
      sent.length = 0;
      await ask();
      const asked = sent.filter(({ text }) => /^\s*(select|with)/i.test(text));
      expect([what, asked.length > 0]).toEqual([what, true]);
      let pages = 0;
      for (const s of asked) pages += await pagesOf(s);
      const byNumber = asked.some(({ text }) => text.includes('recursive probe'));
      const most = looksThrough === true ? usual + LOOKED_THROUGH_PAGES : byNumber ? PAGES_BY_NUMBER : usual;
      if (process.env['SHOW_PAGES'] !== undefined) process.stderr.write(`${pages} ${what}\n`);
      if (!(pages <= most)) tooMany.push(`${what}: ${pages} pages`);
    }
    expect(tooMany).toEqual([]);
  });

  it('a list page that stops at its limit of rows returns a cursor for the next page', async () => {
    const payments = new PaymentsRepository(db);
    let cursor: string | null = null;
    let pages = 0;
    do {
      const page: Page<unknown> = await payments.list({ amount: 1n }, { limit: 100, cursor });
      expect(page.data).toEqual([]);
      cursor = page.nextCursor;
      pages++;
    } while (cursor !== null);
    expect(pages).toBe(RENEWALS / LOOKED_THROUGH + 1);
  });

  it("the ledger's list of a day includes the day's entries recorded on a later day", async () => {
    const entries = new LedgerRepository(db);
    const at = Date.now() - 385 * 86_400_000;
    const day = { since: new Date(at - 3_600_000), until: new Date(at + 3_600_000) };
    const found = await everyPage((cursor) => entries.list(day, { limit: 100, cursor }));
    const notified = await db.pool.query<{ id: string }>(
      'select id from ledger_entry where moved_at >= $1 and moved_at < $2 order by id desc',
      [day.since, day.until],
    );
    expect(found.map((e) => e.id)).toEqual(notified.rows.map((r) => r.id));
    expect(found.filter((e) => e.invoiceId.startsWith('in_late'))).toHaveLength(200);
  });
});

async function everyPage<T>(ask: (cursor: string | null) => Promise<Page<T>>): Promise<T[]> {
  const out: T[] = [];
  for (let cursor: string | null = null; ;) {
    const page: Page<T> = await ask(cursor);
    out.push(...page.data);
    if (page.nextCursor === null) return out;
    cursor = page.nextCursor;
  }
}

/** Records its connections' statements from now on. */
function listen(db: Database, sent: Sent[]): void {
  const heard = new WeakSet<object>();
  db.pool.on('acquire', (client) => {
    if (heard.has(client)) return;
    heard.add(client);
    const query = client.query.bind(client) as (...args: unknown[]) => unknown;
    const hear = (first: unknown, values: unknown, ...rest: unknown[]): unknown => {
      if (typeof first === 'string') sent.push({ text: first, values: Array.isArray(values) ? values : [] });
      else sent.push(first as Sent);
      return query(first, values, ...rest);
    };
    Object.assign(client, { query: hear });
  });
}

describe('any filters together', () => {
  let db: Database;
  let payments: PaymentsRepository;
  let entries: LedgerRepository;
  const START = Date.UTC(2026, 9, 1);
  databaseForAll(async (opened) => {
    db = opened;
    payments = new PaymentsRepository(db);
    entries = new LedgerRepository(db);
    // 700 payments and entries in 60 days, many of them at the same moment, written in another order than they happened.
    await db.pool.query(
      `create temporary table k as select n, (n * 7919) % 700 as m, timestamptz '2026-10-01Z' + ((n * 7919) % 60) * interval '1 day 1.000001 s' as at
         from generate_series(1, 700) as n;
       insert into invoice (invoice_id, status, platform_status, first_seen_at) select 'in_' || n, 'paid', 'paid', at from k;
       insert into payment (id, payment_id, invoice_id, customer_id, origin, status, amount, currency, succeeded_at, verdict_at, mark, recorded_at)
       select 'pmt_' || n, 'pay_' || n, 'in_' || n, 'cus_' || n % 5, 'renewal', case n % 3 when 0 then 'failed' else 'succeeded' end,
              case n % 4 when 0 then 500 else 2990 end, case n % 7 when 0 then 'JPY' else 'EUR' end,
              case n % 3 when 0 then null else at end, case n % 3 when 0 then at end, 'none', at + interval '3 hours' from k order by n;
       insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       select 'a', 'b', case n % 4 when 0 then 500 else 2990 end, case n % 7 when 0 then 'JPY' else 'EUR' end,
              case n % 6 when 0 then 'dispute_lost' else 'payment_marked' end, 's' || n, 'in_' || n, 'pmt_' || n,
              case n % 9 when 0 then at - interval '5 days' else t - interval '3 s' end, t
         from (select k.*, timestamptz '2026-10-01Z' + n * interval '2 hours' as t from k) k order by n;
       drop table k`,
    );
  }, 2);

  const day = fc.integer({ min: -2, max: 62 }).map((n) => new Date(START + n * 86_400_000));
  const maybe = <T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
    fc.option(arbitrary, { nil: undefined });
  const money = {
    since: maybe(day),
    until: maybe(day),
    currency: maybe(fc.constantFrom('EUR', 'JPY', 'CHF')),
    amount: maybe(fc.constantFrom(500n, 2990n, 1n)),
    customerId: maybe(fc.constantFrom('cus_1', 'cus_4', 'cus_none')),
  };
  const limit = fc.constantFrom(3, 20, 100);

  /** The table's rows, by plain conditions. */
  async function plain(
    table: string,
    at: string,
    order: string,
    paymentFilter: PaymentFilter & LedgerFilter,
  ): Promise<readonly string[]> {
    const values = [
      paymentFilter.since,
      paymentFilter.until,
      paymentFilter.currency,
      paymentFilter.amount?.toString(),
      paymentFilter.customerId,
      paymentFilter.status,
      paymentFilter.invoiceId,
      paymentFilter.reason,
    ];
    const found = await db.pool.query<{ id: string }>(
      `select x.id from ${table} x
        where ($1::timestamptz is null or ${at} >= $1) and ($2::timestamptz is null or ${at} < $2)
          and ($3::text is null or currency = $3) and ($4::bigint is null or amount = $4) and ($5::text is null or customer_id = $5)
          and ($6::text is null or status = $6) and ($7::text is null or x.invoice_id = $7) and ($8::text is null or reason = $8)
        order by ${order}`,
      values.map((v) => v ?? null),
    );
    return found.rows.map((r) => r.id);
  }

  it('the payments list shows each matching payment once, newest first, for any filters', async () => {
    const filters = fc.record({
      ...money,
      status: maybe(fc.constantFrom('failed', 'succeeded', 'refunded')),
      invoiceId: maybe(fc.constantFrom('in_8', 'in_none')),
    });
    await fc.assert(
      fc.asyncProperty(filters, limit, async (f, n) => {
        const found = await everyPage((cursor) => payments.list(f, { limit: n, cursor }));
        const at = 'coalesce(succeeded_at, verdict_at, recorded_at)';
        const table = '(select p.*, null as reason from payment p)';
        expect(found.map((p) => p.payment.id)).toEqual(await plain(table, at, `${at} desc, seq desc`, f));
      }),
      { numRuns: 60 },
    );
  });

  it('the ledger list shows each matching entry once, late entries included, for any filters', async () => {
    const filters = fc.record({
      ...money,
      invoiceId: maybe(fc.constantFrom('in_8', 'in_none')),
      reason: maybe(fc.constantFrom('dispute_lost', 'payment_marked', 'refund_paid')),
    });
    await fc.assert(
      fc.asyncProperty(filters, limit, async (f, n) => {
        const found = await everyPage((cursor) => entries.list(f, { limit: n, cursor }));
        const table = `(select l.*, p.customer_id, null as status from ledger_entry l join payment p on p.id = l.payment_row_id)`;
        expect(found.map((e) => e.id)).toEqual(await plain(table, 'moved_at', 'x.id desc', f));
      }),
      { numRuns: 60 },
    );
  });
});

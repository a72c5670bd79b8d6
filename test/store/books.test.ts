// Sums of the ledger, exports and days in the overview, in a real PostgreSQL.
import { beforeEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EndpointRepliesRepository } from '../../src/frames/intake/endpoint-replies.repository.js';
import { type Export, ExportsRepository } from '../../src/core/ledger/exports.repository.js';
import { daySums } from '../../src/core/ledger/ledger.repository.js';
import { ACCOUNTS } from '../../src/shared/domain/postings.js';
import { monthOf } from '../../src/core/ledger/rules/month.js';
import { openEnds, trialBalances } from '../../src/core/ledger/rules/trial-balance.js';
import { LedgerSumsRepository } from '../../src/core/ledger/sums.repository.js';
import { DaysRepository } from '../../src/features/overview/days.repository.js';
import { DatabaseTime, ServerTime } from '../../src/frames/store/database-time.js';
import { type Database } from '../../src/frames/store/database.js';
import { INVOICE_ID, aPaymentSucceeded, aRefund, anInvoice } from '../support/builders/events.js';
import { databaseForAll } from '../support/rigs/use-database.js';
import { type LaneOnPostgres, laneForEach } from '../support/rigs/lane-on-postgres.js';
import { type Plan, pagesIn } from '../support/rigs/lane-steps.js';

// The sums of the ledger by day equal its entries, however much of them is folded, and whoever folds.
describe('Sums of the ledger', () => {
  class TimeByHand extends DatabaseTime {
    now = new Date('2026-12-10T00:00:00Z');
    given(): Date {
      return this.now;
    }
    pass(minutes: number): void {
      this.now = new Date(this.now.getTime() + minutes * 60_000);
    }
  }

  let db: Database;
  const time = new TimeByHand();
  let sums: LedgerSumsRepository;
  databaseForAll((opened) => {
    db = opened;
    sums = new LedgerSumsRepository(db, time);
  });
  beforeEach(async () => {
    await db.pool.query(`alter table ledger_entry disable trigger all; delete from ledger_entry; delete from ledger_day;
    update ledger_fold set up_to = 0, noted = 0, noted_at = '2026-12-01Z'; alter table ledger_entry enable trigger all`);
  });

  const NOVEMBER = monthOf('2026-11') ?? { since: new Date(0), until: new Date(0) };
  type Entry = {
    readonly reason: 'payment_collected' | 'payment_marked' | 'refund_paid';
    readonly day: number;
    readonly amount: number;
    readonly currency: string;
  };
  const SIDES = {
    payment_collected: ['mor_receivable', 'unmarked_payments'],
    payment_marked: ['unmarked_payments', 'settled_invoices'],
    refund_paid: ['unmirrored_refunds', 'mor_receivable'],
  } as const;
  let n = 0;

  async function book(
    client: { query(sql: string, values: unknown[]): Promise<unknown> },
    event: Entry,
  ): Promise<void> {
    const [debit, credit] = SIDES[event.reason];
    const at = new Date(Date.UTC(2026, 9, event.day, 23, 59, 59, 999));
    await client.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     values ($1, $2, $3, $4, $5, $6, 'in_1', 'pmt_1', $7, $7)`,
      [debit, credit, event.amount, event.currency, event.reason, `s${n++}`, at],
    );
  }

  /** The sums of the entries themselves. */
  async function plainly(): Promise<unknown> {
    const found = await db.pool.query(
      `select currency, reason, debit_account as debit, credit_account as credit,
            coalesce(sum(amount) filter (where moved_at < $1), 0)::text as before,
            coalesce(sum(amount) filter (where moved_at >= $1), 0)::text as during, count(*) filter (where moved_at >= $1)::int as entries
       from ledger_entry where moved_at < $2 group by 1, 2, 3, 4 order by 1, 2, 3, 4`,
      [NOVEMBER.since, NOVEMBER.until],
    );
    return found.rows;
  }
  const asText = (found: Awaited<ReturnType<LedgerSumsRepository['between']>>): unknown =>
    found.map((s) => ({ ...s, before: s.before.toString(), during: s.during.toString() }));

  const entry: fc.Arbitrary<Entry> = fc.record({
    reason: fc.constantFrom('payment_collected', 'payment_marked', 'refund_paid'),
    day: fc.integer({ min: 1, max: 80 }), // October to the middle of December
    amount: fc.integer({ min: 1, max: 1_000_000 }),
    currency: fc.constantFrom('EUR', 'JPY'),
  });

  it("the ledger's monthly sum is right before, during and after the job that sums entries by day, even for late entries", async () => {
    const step = fc.oneof(entry, fc.constantFrom('fold', 'an hour'));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        for (const s of steps) {
          if (s === 'fold') await Promise.all([sums.fold(), sums.fold()]);
          else if (s === 'an hour') time.pass(60);
          else await book(db.pool, s);
          expect(asText(await sums.between(NOVEMBER))).toEqual(await plainly());
        }
      }),
      { numRuns: 25 },
    );
  });

  it("for any filter by reason, currency and dates, the ledger's sums by day equal the sums of entries", async () => {
    const maybe = <T>(one: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> => fc.option(one, { nil: undefined });
    const midnight = maybe(fc.integer({ min: 1, max: 80 }).map((day) => new Date(Date.UTC(2026, 9, day))));
    const filter = fc.record({
      reason: maybe(fc.constantFrom('payment_collected', 'refund_paid')),
      currency: maybe(fc.constantFrom('EUR', 'JPY')),
      since: midnight,
      until: midnight,
    });
    const some = fc.array(entry, { maxLength: 15 });
    await fc.assert(
      fc.asyncProperty(some, some, filter, async (old, recent, { reason, currency, since, until }) => {
        for (const e of old) await book(db.pool, e);
        await sums.fold();
        time.pass(11);
        await sums.fold();
        for (const e of recent) await book(db.pool, e);
        const found = await daySums(db.orm, { reason, currency, since, until });
        const plain = await db.pool.query<Record<'currency' | 'rows' | 'minor', string>>(
          `select currency, count(*) as rows, sum(amount)::text as minor from ledger_entry
          where ($1::text is null or reason = $1) and ($2::text is null or currency = $2)
            and ($3::timestamptz is null or moved_at >= $3) and ($4::timestamptz is null or moved_at < $4)
          group by 1 order by 2 desc, 1`,
          [reason, currency, since, until],
        );
        const expected = plain.rows.map((r) => ({ ...r, rows: Number(r.rows), minor: BigInt(r.minor) }));
        expect(found).toEqual({ sums: expected, all: true });
      }),
      { numRuns: 25 },
    );
  });

  it('Crossbill sums a ledger filtered by amount, invoice, payment, customer or hour from entries, not from daily sums', async () => {
    const hour = new Date('2026-11-05T10:00:00Z');
    for (const filter of [
      { amount: 5n },
      { invoiceId: 'in_1' },
      { paymentId: 'pay_1' },
      { customerId: 'cus_1' },
      { since: hour },
    ])
      expect(await daySums(db.orm, filter)).toBeNull();
  });

  it('Crossbill adds no ledger entries to the sums by day while an older entry is still in an open transaction', async () => {
    const late = await db.pool.connect();
    try {
      await late.query('begin');
      const one = { reason: 'payment_collected', day: 40, amount: 5, currency: 'EUR' } as const;
      await book(late, one); // has its number, and is not there yet
      await book(db.pool, { ...one, amount: 7 });
      await sums.fold(); // notes the newest
      time.pass(9);
      expect(await sums.fold()).toBe(0); // too early to sum it up
      await late.query('commit');
      time.pass(2);
      expect(await sums.fold()).toBe(2);
      expect(await sums.between(NOVEMBER)).toEqual([expect.objectContaining({ during: 12n, entries: 2 })]);
    } finally {
      late.release();
    }
  });

  it('a trial balance over 60,000 ledger entries reads the sums of the days instead of the entries', async () => {
    await db.pool.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     select 'mor_receivable', 'unmarked_payments', 100, 'EUR', 'payment_collected', 'many' || n, 'in_1', 'pmt_1', at, at
       from (select n, timestamptz '2026-09-01Z' + n * interval '2 minutes' as at from generate_series(1, 60000) as n) x`,
    );
    await sums.fold();
    time.pass(11);
    expect(await sums.fold()).toBe(60_000);
    await db.pool.query('vacuum analyze ledger_entry, ledger_day');
    const sent: string[] = [];
    const query = db.pool.query.bind(db.pool) as (...args: unknown[]) => Promise<unknown>;
    Object.assign(db.pool, { query: (sql: string, ...rest: unknown[]) => (sent.push(sql), query(sql, ...rest)) });
    await sums.between(NOVEMBER);
    Object.assign(db.pool, { query });
    const explained = await db.pool.query<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
      `explain (analyze, buffers, format json) ${sent[0] ?? ''}`,
      ['2026-11-01', '2026-12-01'],
    );
    expect(pagesIn(explained.rows[0]?.['QUERY PLAN'][0].Plan)).toBeLessThan(20); // the table has more than 1,000
  });

  it("a trial balance has equal debits and credits, and opens with last month's closing balances", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(entry, { minLength: 1, maxLength: 20 }), async (entries) => {
        for (const e of entries) await book(db.pool, e);
        const [october, november] = await Promise.all(
          ['2026-10', '2026-11'].map(async (name) => trialBalances(await sums.between(monthOf(name) ?? NOVEMBER))),
        );
        for (const b of [...(october ?? []), ...(november ?? [])]) {
          expect([b.total.opening, b.total.closing, b.total.debit - b.total.credit]).toEqual([0n, 0n, 0n]);
          expect(b.accounts.map((l) => l.account)).toEqual([...ACCOUNTS]);
        }
        for (const b of november ?? []) {
          const before = october?.find((o) => o.currency === b.currency);
          const closed = before?.accounts.map((l) => l.closing) ?? ACCOUNTS.map(() => 0n);
          expect(b.accounts.map((l) => l.opening)).toEqual(closed);
          const unmarked = b.accounts.find((l) => l.account === 'unmarked_payments')?.closing ?? 0n;
          expect(openEnds(b).some(({ what }) => what.includes('no invoice'))).toBe(unmarked !== 0n);
        }
      }),
      { numRuns: 15 },
    );
  });
});

// An export during marks and mirrored refunds: an entry exists before its row, and stands in the export all the same.
describe('Exports', () => {
  let x: LaneOnPostgres;
  laneForEach((opened) => {
    x = opened;
    x.harness.platform.put(anInvoice());
  });

  async function all<R>(pages: Export<R>): Promise<R[]> {
    const rows: R[] = [];
    for await (const page of pages) rows.push(...page.rows);
    return rows;
  }

  it('an export has each payment and refund, even while Crossbill has not yet reported the payment or refund to Stripe', async () => {
    const { platform } = x.harness;
    const exports = new ExportsRepository(x.db);
    const seen: string[] = [];
    const send = platform.send.bind(platform);
    platform.send = async (...call) => {
      const payments = await all(exports.payments({}));
      const refunds = await all(exports.refunds({}));
      const has = async (table: string): Promise<string> =>
        (await x.db.pool.query(`select from ${table} where invoice_id = $1`, [INVOICE_ID])).rowCount === 0
          ? ' (no row)'
          : '';
      seen.push(
        ...payments.map((p) => `payment ${p.payment.paymentId ?? ''} of ${p.entry.amount}`),
        ...refunds.map(
          (r) => `refund ${r.refund.morRefundId ?? ''} of ${r.entry.amount} of ${r.payment.paymentId ?? ''}`,
        ),
      );
      seen.push(`rows:${await has('payment')}${await has('refund')}`);
      return send(...call);
    };
    await x.harness.take(aPaymentSucceeded());
    expect(seen.slice(0, 2)).toEqual(['payment pay_oak of 1000', 'rows: (no row) (no row)']);
    seen.length = 0;
    await x.harness.take(aRefund({ amount: 300 }));
    expect(seen.slice(0, 3)).toEqual(['payment pay_oak of 1000', 'refund rfnd_1 of 300 of pay_oak', 'rows: (no row)']);
  });
});

// The console's overview of many days, and the answers of the webhook endpoints: counted once, kept, and equal to the
// rows.
describe('Days in the overview', () => {
  let db: Database;
  let books: DaysRepository;
  const NOW = new Date('2026-11-20T12:00:00Z');
  const day = (text: string): Date => new Date(`${text}T00:00:00Z`);
  const month = { since: day('2026-11-01'), until: day('2026-12-01') };

  databaseForAll((opened) => {
    db = opened;
    books = new DaysRepository(db);
  });

  async function collected(
    subject: string,
    minor: number,
    currency: string,
    movedAt: string,
    recordedAt = movedAt,
  ): Promise<void> {
    for (const reason of ['payment_collected', 'payment_marked']) {
      await db.pool.query(
        `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
       values ('mor_receivable', 'unmarked_payments', $1, $2, $3, $4, 'in_1', 'pmt_1', $5, $6)`,
        [minor, currency, reason, subject, movedAt, reason === 'payment_marked' ? recordedAt : movedAt],
      );
    }
  }

  it("the overview counts money on the day of the MoR's booking, whenever Crossbill recorded the money", async () => {
    await collected('a', 2_990, 'EUR', '2026-11-18T23:59:59Z', '2026-11-19T00:00:30Z');
    await collected('b', 1_000, 'EUR', '2026-11-19T00:00:00Z', '2026-11-19T01:30:00Z');
    await collected('c', 500, 'USD', '2026-11-19T08:00:00Z');
    await db.pool.query(
      `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     values ('unmirrored_refunds', 'mor_receivable', 250, 'EUR', 'refund_paid', 'r', 'in_1', 'pmt_1', '2026-11-19T09:00:00Z', now())`,
    );
    const said = [
      { day: day('2026-11-18'), currency: 'EUR', collected: 2_990n, refunded: 0n, payments: 1 },
      { day: day('2026-11-19'), currency: 'EUR', collected: 1_000n, refunded: 250n, payments: 1 },
      { day: day('2026-11-19'), currency: 'USD', collected: 500n, refunded: 0n, payments: 1 },
    ];
    expect(await books.money(month)).toEqual(said);
    expect(await books.money({ since: day('2026-11-19'), until: day('2026-11-20') })).toEqual(said.slice(1));
    await db.pool.query(
      `update ledger_fold set noted_at = now() - interval '1 day', noted = (select max(id) from ledger_entry)`,
    );
    expect(await new LedgerSumsRepository(db, new ServerTime()).fold()).toBe(7);
    await collected('d', 10, 'EUR', '2026-11-19T10:00:00Z');
    const after = await books.money(month);
    expect(after[1]).toEqual({ ...said[1], collected: 1_010n, payments: 2 });
  });

  it("the overview stores its count of a day's renewals, and refreshes the count later, less often for an older day", async () => {
    const invoice = (id: string, status: string, at: string, reason = 'subscription_cycle'): Promise<unknown> =>
      db.pool.query(
        `insert into invoice (invoice_id, status, platform_status, billing_reason, platform_created_at, first_seen_at)
       values ($1, $2, 'open', $3, $4, now())`,
        [id, status, reason, at],
      );
    await invoice('in_paid', 'paid', '2026-11-18T00:00:00Z');
    await invoice('in_held', 'held', '2026-11-18T10:00:00Z');
    await invoice('in_open', 'open', '2026-11-18T23:59:59Z');
    await invoice('in_waits', 'expected', '2026-11-18T12:00:00Z');
    await invoice('in_first', 'paid', '2026-11-18T12:00:00Z', 'subscription_create');
    await invoice('in_other_day', 'open', '2026-11-19T00:00:00Z');
    const counted: string[] = [];
    for (let d = await books.countOne(NOW, 3); d !== null; d = await books.countOne(NOW, 3)) {
      counted.push(d.toISOString().slice(0, 10));
    }
    expect(counted).toEqual(['2026-11-20', '2026-11-19', '2026-11-18', '2026-11-17']);
    expect(await books.renewals(month)).toEqual([
      { day: day('2026-11-17'), paid: 0, unpaid: 0, waiting: 0 },
      { day: day('2026-11-18'), paid: 2, unpaid: 1, waiting: 1 },
      { day: day('2026-11-19'), paid: 0, unpaid: 1, waiting: 0 },
      { day: day('2026-11-20'), paid: 0, unpaid: 0, waiting: 0 },
    ]);
    await db.pool.query(`update invoice set status = 'paid' where invoice_id = 'in_open'`);
    const soon = new Date(NOW.getTime() + 10 * 60_000);
    expect(await books.countOne(soon, 3)).toBeNull();
    const later = new Date(NOW.getTime() + 24 * 3_600_000);
    while ((await books.countOne(later, 4)) !== null);
    expect((await books.renewals(month)).find((d) => d.day.getTime() === day('2026-11-18').getTime())).toMatchObject({
      paid: 3,
      unpaid: 0,
      waiting: 1,
    });
  });

  it('a replica counts no renewals for the overview while another replica counts them', async () => {
    const client = await db.pool.connect();
    try {
      await client.query('begin');
      await client.query('select pg_advisory_xact_lock(4812009)');
      expect(await books.countOne(new Date('2027-01-01T00:00:00Z'), 3)).toBeNull();
    } finally {
      await client.query('rollback');
      client.release();
    }
  });

  it("the database adds up all replicas' answers at a webhook endpoint by the hour, and keeps the last 200 refusals", async () => {
    const endpoints = new EndpointRepliesRepository(db);
    const hour = new Date('2026-11-20T11:00:00Z');
    await endpoints.add(
      [
        { endpoint: 'stripe', hour, status: 200, n: 40 },
        { endpoint: 'stripe', hour, status: 401, n: 2 },
      ],
      [],
    );
    await endpoints.add([{ endpoint: 'stripe', hour, status: 200, n: 2 }], []);
    expect(await endpoints.replies(new Date('2026-11-20T00:00:00Z'))).toEqual([
      { endpoint: 'stripe', hour, status: 200, n: 42 },
      { endpoint: 'stripe', hour, status: 401, n: 2 },
    ]);
    const refusal = (count: number) =>
      ({
        endpoint: 'stripe',
        at: new Date(hour.getTime() + count),
        status: 401,
        why: 'signature_mismatch',
        address: '192.0.2.1',
      }) as const;
    for (let i = 0; i < 5; i++)
      await endpoints.add(
        [],
        Array.from({ length: 50 }, (_, n) => refusal(i * 50 + n)),
      );
    expect((await endpoints.refusals(3)).map((r) => r.at.getTime() - hour.getTime())).toEqual([249, 248, 247]);
    expect((await db.pool.query('select count(*)::int as n from endpoint_refusal')).rows).toEqual([{ n: 200 }]);
    const weekLater = new Date('2026-11-27T11:00:00Z');
    await endpoints.add([{ endpoint: 'mor_events', hour: weekLater, status: 200, n: 1 }], []);
    expect(await endpoints.replies(new Date(0))).toEqual([
      { endpoint: 'mor_events', hour: weekLater, status: 200, n: 1 },
    ]);
  });
});

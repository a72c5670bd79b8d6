// The sums of the ledger by day: the same as its entries say, however much of them is folded, and whoever folds.
import { afterAll, beforeAll, beforeEach, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { Database } from '../../src/store/database.js';
import { DatabaseTime } from '../../src/store/database-time.js';
import { daySums } from '../../src/ledger/ledger.store.js';
import { LedgerSumsStore } from '../../src/ledger/sums.store.js';
import { monthOf } from '../../src/ledger/rules/month.js';
import { ACCOUNTS } from '../../src/ledger/rules/accounts.js';
import { openEnds, trialBalances } from '../../src/ledger/rules/trial-balance.js';
import { freshDatabase, type TestDatabase } from '../support/database.js';
import { pagesIn, type Plan } from '../support/lane-steps.js';

class TimeByHand extends DatabaseTime {
  now = new Date('2026-12-10T00:00:00Z');
  given(): Date {
    return this.now;
  }
  pass(minutes: number): void {
    this.now = new Date(this.now.getTime() + minutes * 60_000);
  }
}

let fresh: TestDatabase;
let db: Database;
const time = new TimeByHand();
let sums: LedgerSumsStore;
beforeAll(async () => {
  fresh = await freshDatabase();
  db = await Database.open({ url: fresh.url, poolSize: 4, onError: () => undefined });
  sums = new LedgerSumsStore(db, time);
});
afterAll(async () => {
  await db.close();
  await fresh.drop();
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

async function book(client: { query(sql: string, values: unknown[]): Promise<unknown> }, e: Entry): Promise<void> {
  const [debit, credit] = SIDES[e.reason];
  const at = new Date(Date.UTC(2026, 9, e.day, 23, 59, 59, 999));
  await client.query(
    `insert into ledger_entry (debit_account, credit_account, amount, currency, reason, subject, invoice_id, payment_row_id, moved_at, recorded_at)
     values ($1, $2, $3, $4, $5, $6, 'in_1', 'pmt_1', $7, $7)`,
    [debit, credit, e.amount, e.currency, e.reason, `s${n++}`, at],
  );
}

/** What the entries themselves say. */
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
const asText = (found: Awaited<ReturnType<LedgerSumsStore['between']>>): unknown =>
  found.map((s) => ({ ...s, before: s.before.toString(), during: s.during.toString() }));

const entry: fc.Arbitrary<Entry> = fc.record({
  reason: fc.constantFrom('payment_collected', 'payment_marked', 'refund_paid'),
  day: fc.integer({ min: 1, max: 80 }), // October to the middle of December
  amount: fc.integer({ min: 1, max: 1_000_000 }),
  currency: fc.constantFrom('EUR', 'JPY'),
});

it('a month reads the same before, while and after its entries are folded, and late ones are in it at once', async () => {
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

it('a selection of whole days adds up to all of its entries, folded or not, by reason and currency', async () => {
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
    fc.asyncProperty(some, some, filter, async (old, young, { reason, currency, since, until }) => {
      for (const e of old) await book(db.pool, e);
      await sums.fold();
      time.pass(11);
      await sums.fold();
      for (const e of young) await book(db.pool, e);
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

it('a selection that days cannot tell, by an amount, an invoice or an hour, is left to its entries', async () => {
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

it('an entry that is still being written while a newer one is there is not passed over', async () => {
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

it('a balance above many entries reads days', async () => {
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

it('every balance is even, whatever was booked, and its accounts go on from month to month', async () => {
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
